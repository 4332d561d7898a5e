"""Pages in a browser: play, analyse, watch a search, watch runs, learn how the search works.

    server.py    HTTP and the WebSocket, with the checks of connections; `serve`
    visit.py     one connected page: its messages, each answered by one of the following
    table.py     a game being played            study.py     a game being analysed
    growth.py    a search being watched         lesson.py    the teaching tree, `lesson_texts.py` its texts
    figures.py   the tree of a long search
    runs.py      the data of runs               catalogue.py a page about each game
    library.py   games and players by name, only from the given directories
    searches.py  searches of all visitors, in turns
    boards.py    a position as a drawing with places to click
    static/      the pages: plain ES modules without a build

Only `server.py` knows HTTP, and only `static/` knows pages. `docs/web.md` has the reasons.
"""
