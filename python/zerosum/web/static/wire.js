// The connection: ask("play.move", {action: 3}) is answered with a promise; events go to listeners.

const waiting = new Map();
const listeners = new Map();
const onOpen = new Set();
let socket = null;
let next = 1;
let pause = 300;
let isFirst = true;

export function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/talk`);
  socket.onopen = () => {
    pause = 300;
    document.body.dataset.connected = "true";
    const note = document.getElementById("offline");
    note.hidden = true;
    for (const resume of [...onOpen]) resume(!isFirst);
    isFirst = false;
  };
  socket.onmessage = ({data}) => {
    const message = JSON.parse(data);
    if (message.event) {
      for (const listener of listeners.get(message.event) ?? []) listener(message);
      return;
    }
    const {resolve, reject} = waiting.get(message.id) ?? {};
    waiting.delete(message.id);
    if (message.error !== undefined) reject?.(new Error(message.error));
    else resolve?.(message.result);
  };
  socket.onclose = ({code, reason}) => {
    delete document.body.dataset.connected;
    for (const {reject} of waiting.values()) reject(new Error("The connection was lost."));
    waiting.clear();
    const note = document.getElementById("offline");
    note.textContent = code === 1013 || code === 1008 ? reason : "The program does not answer. Trying again …";
    note.hidden = false;
    if (code !== 1008) setTimeout(connect, (pause = Math.min(pause * 1.6, 5000)));
  };
}

export function ask(what, fields = {}) {
  return new Promise((resolve, reject) => {
    if (socket?.readyState !== WebSocket.OPEN) return reject(new Error("There is no connection to the program."));
    const id = next++;
    waiting.set(id, {resolve, reject});
    // A field that is null is not there.
    socket.send(JSON.stringify({...fields, id, do: what}, (_, value) => (value === null ? undefined : value)));
  });
}

/** Call `listener` for each event of a name until the page is left. */
export function on(event, listener) {
  if (!listeners.has(event)) listeners.set(event, new Set());
  listeners.get(event).add(listener);
}

/**
 * Call `resume(isAgain)` whenever the connection opens, and now if it is open. Nothing can be clicked until it is
 * done: the page has no answer to work with.
 */
export function whenOpen(resume) {
  const main = document.getElementById("main");
  main.ariaBusy = "true";
  const begin = async (isAgain) => {
    try {
      await resume(isAgain);
    } finally { main.ariaBusy = "false"; }
  };
  onOpen.add(begin);
  if (socket?.readyState === WebSocket.OPEN) begin(false);
}

export function forgetListeners() {
  listeners.clear();
  onOpen.clear();
}
