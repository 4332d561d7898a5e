// Sounds of moves, made by WebAudio without files. They are off until they are asked for.

let context = null;

export const isOn = () => localStorage.getItem("sound") === "on";

export function turn() {
  localStorage.setItem("sound", isOn() ? "off" : "on");
  if (isOn()) play("move");
}

// Each sound is of tones: [frequency in Hz, begin in s, length in s, kind of wave].
const SOUNDS = {
  move: [[220, 0, 0.07, "triangle"]],
  take: [[180, 0, 0.06, "square"], [120, 0.04, 0.08, "triangle"]],
  check: [[520, 0, 0.09, "triangle"], [660, 0.09, 0.12, "triangle"]],
  end: [[392, 0, 0.18, "sine"], [494, 0.16, 0.18, "sine"], [587, 0.32, 0.36, "sine"]],
};

/** Play a sound by its name, if sounds are on. */
export function play(name) {
  if (!isOn()) return;
  context ??= new AudioContext();
  for (const [frequency, begin, length, type] of SOUNDS[name]) {
    const at = context.currentTime + begin, tone = new OscillatorNode(context, {frequency, type});
    const volume = new GainNode(context, {gain: 0});
    volume.gain.setValueAtTime(0.16, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}
