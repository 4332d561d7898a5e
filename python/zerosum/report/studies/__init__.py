"""Studies: experiments by one command (`zerosum study NAME`), each a list of jobs and a page with their figures.

`study.py` has what a study is and runs its jobs, `results.py` keeps them, `page.py` shows them, `catalogue.py` names
all studies, and the other files are the studies. Start with `study.run_study`.
"""
