"""A page about runs: what they learned, when, and whether to trust it (`zerosum report`).

`run_data.py` reads runs, `game_statistics.py` counts their games, `findings.py` judges, `probes.py` asks checkpoints,
`drawings.py` draws, `page.py` puts all on one page. Start with `page.write_page`.
"""
