"""The program as pages in a browser: play, analyse, watch a search, watch runs, learn how the search works.

    server.py    HTTP and the WebSocket: who may connect, what is sent; `serve`
    visit.py     one connected page: its messages, each answered by one of the following
    table.py     a game that is played          study.py     a game that is analysed
    growth.py    a search that is watched       lesson.py    the teaching tree, `lesson_texts.py` its words
    runs.py      what a run's directory shows   catalogue.py a page about each game
    library.py   games and players by name; nothing outside the given directories can be named
    searches.py  searches of all visitors, in turns
    boards.py    a position as a drawing with places to click
    static/      the pages: plain ES modules without a build

Nothing but `server.py` knows of HTTP, and nothing but `static/` of a page. `docs/web.md` has the reasons.
"""
