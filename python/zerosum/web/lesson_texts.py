"""The texts of the teaching page, at eight reading levels; each paragraph belongs to a scenario."""

from __future__ import annotations

from typing import Any

LEVELS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "For a child",
        (
            (
                "right",
                "You have three doors: A, B and C. A friend who has seen many doors says: “I think A is best.” You look"
                " behind A, and it is nice there. So you look behind A again and again, and now and then behind B, to"
                " be sure. The door that you looked behind most often is the one you take.",
            ),
            (
                "wrong",
                "Your friend can be mistaken! Behind C there is a treasure, but only if you walk in far enough. If you"
                " are not curious, you never find it. Push the curiosity slider (it is called c) up and see when C is"
                " found.",
            ),
            (
                "trap",
                "Door A looks pretty, but there is a hole behind it, and the one you play against wants you to fall in."
                " After a few looks you see the hole. Then you stop liking A.",
            ),
            (
                "example",
                "Everybody says A. You look: ouch! You look at B: not good. You look at C: great! Looking is better"
                " than believing.",
            ),
        ),
    ),
    (
        "For a schoolchild",
        (
            (
                "right",
                "Each move has two numbers. P says how good the move looks at first sight. Q says how good it turned"
                " out on average when it was tried. At the beginning there is only P. With every try, Q counts more and"
                " P counts less, because a move that has been tried often needs no more benefit of the doubt.",
            ),
            (
                "wrong",
                "Here P is unfair to C. The number c decides how much a good first impression and few tries are worth."
                " With c = 0 only results count, so the first move that gave a plus is repeated for ever. With c = 4"
                " even C gets its chance, and then its result speaks for itself.",
            ),
            (
                "trap",
                "When you think about a move, you have to think about the answer too. The answer is chosen by your"
                " opponent, who wants the opposite of what you want. That is why the sign of the number flips on the"
                " way back up: good for them is bad for you.",
            ),
            (
                "example",
                "Step through it slowly. First A is tried, because P is large. It brings −0.8, so Q(A) falls below the"
                " others. After a few steps most of the tries go to C.",
            ),
        ),
    ),
    (
        "For anybody curious",
        (
            (
                "right",
                "A computer that plays well does two things at once: it guesses, and it checks its guesses. A neural"
                " network guesses which moves are promising (P) and who stands better (v). A search checks: it tries"
                " moves, looks at what comes of them, and keeps an average (Q). The move that was tried most is played,"
                " and not the one with the best average: an average of two tries can be luck, many tries mean that the"
                " move kept its promise.",
            ),
            (
                "wrong",
                "No guess is always right. In this tree the network thinks little of the best move. Whether the search"
                " finds it is a question of how adventurous it is (c) and of how long it may look. With twenty tries"
                " it plays A, whatever c is; with c = 4 a hundred tries are enough to find C.",
            ),
            (
                "trap",
                "What looks good may have a hidden refutation. The search need not know in advance where it is. It"
                " follows the likely lines, and the first time it stumbles on the refutation, that bad news changes"
                " the averages all the way up.",
            ),
            (
                "example",
                "One simulation has four parts: choose a path, add what lies at its end, ask what it is worth, and"
                " report that to every move on the path. The log below shows each of them with its numbers.",
            ),
        ),
    ),
    (
        "For a player of board games",
        (
            (
                "right",
                "P is your intuition: candidate moves come to mind before you calculate. Q is what calculation says. A"
                " strong player spends the time on the candidates, looks at an odd move now and then, and trusts the"
                " line that has been checked most. So does this search: A is the natural move, and calculation agrees.",
            ),
            (
                "wrong",
                "C is a quiet sacrifice that nobody considers: it looks bad at once (v = −0.4), and every reply leads"
                " to a win. Players miss such moves because they never look at them a second time. A larger c is the"
                " discipline to look again; a short clock takes it away.",
            ),
            (
                "trap",
                "A wins material and runs into a shot: A1 is a reply that your opponent's intuition finds unlikely"
                " (P = 0.1). The search meets it when the other reply has been tried often enough, and Q(A) drops."
                " Prophylaxis, by counting.",
            ),
            (
                "example",
                "The natural move loses by force, the ugly one wins. After a dozen simulations the count of visits is"
                " already a verdict; afterwards it only becomes firmer.",
            ),
        ),
    ),
    (
        "For a reader from industry",
        (
            (
                "right",
                "The cost: a simulation is about one evaluation of the network, so a decision costs their number times"
                " the price of an evaluation. Here the model is right, and all simulations after the first only"
                " confirm it. Training need not search every move in full: in"
                " self-play one move in a few is, which made better players for the same CPU-minutes.",
            ),
            (
                "wrong",
                "What the cost buys: corrections where the model is wrong. C takes over for good after 72"
                " simulations with c = 4 and after 246 with the usual c = 1.25; with c = 0.5 a thousand do not find"
                " it. A better setting is worth more than three times the hardware here, but it is another one in"
                " each application, so it is measured and not guessed.",
            ),
            (
                "trap",
                "The risk: a decision that was cut short. With c = 1.25 the trap is still the answer after ten"
                " simulations, and with c = 2.5 after twenty. Plan for the largest delay that is allowed, not for the"
                " mean, and test with the settings that will run.",
            ),
            (
                "example",
                "What to expect: only the rules are needed, no examples, but they must be exact and fast, and"
                " every game must end with a result. On two cores, 400 CPU-minutes of self-play were enough for 90 of"
                " 100 points against GNU Go on the small board. The same method has missed its goals in other games:"
                " ask for a test against what you use today, with its interval.",
            ),
        ),
    ),
    (
        "For a student",
        (
            (
                "right",
                "Selection takes the action with the largest Q(s,a) + U(s,a), where U(s,a) = c · P(s,a) · √ΣN(s,b) /"
                " (1 + N(s,a)). The sum is over the actions of s, and the rule is called PUCT. U shrinks as an action"
                " is visited and grows slowly as its siblings are, so every action with P > 0 is tried again if c > 0."
                " Before the first visit Q is 0 here, and all U are 0 too: the tie goes to the larger prior.",
            ),
            (
                "wrong",
                "With c = 0 the bonus of C is 0 for ever, and with c = 0.1 it stays below Q(A) for 426 simulations:"
                " N(C) = 0 until then. With c = 4 it is visited, its replies are worth 0.9, and Q(C) ="
                " W(C)/N(C) rises with each visit, since the −0.4 of the first evaluation is averaged away. Raising c"
                " after 20 simulations works as well: the tree keeps its N and W, and only U changes.",
            ),
            (
                "trap",
                "Below A the opponent maximises −Q + U. The reply A1 has a prior of 0.1, so A2 is visited first. Since"
                " U(A1) grows with √N(A), a visit follows, −0.9 is backed up, and W(A) takes it in. From then on the"
                " opponent prefers A1, and Q(A) converges towards −0.9: the average approaches the minimax value,"
                " because visits concentrate on the best reply.",
            ),
            (
                "example",
                "Check the arithmetic: after n simulations ΣN = n; each backup adds v to W of the moves on its path,"
                " with the sign flipped from one player to the other. The JSON holds the whole tree, if you want to"
                " write the four phases yourself and compare.",
            ),
        ),
    ),
    (
        "For a PhD student",
        (
            (
                "right",
                "A control: for all c in [0, 5] the move is A at every n, so the effect of c is zero here, and a set"
                " of such positions has no power to compare two values of c. Nor has a match that begins with them:"
                " two deterministic players repeat one game, and repeated games are one observation. Random openings,"
                " each from both sides, make pairs, and the pair is the unit.",
            ),
            (
                "wrong",
                "An effect, with its size: the n from which C is played is 246, 99, 72 and 108 for c = 1.25, 2.5, 4"
                " and 5. It is not monotone, so a sweep of two values would mislead. Threats to validity: the tree"
                " was built for the effect (selection), n is not time (construct), and nine nodes with priors set by"
                " hand say nothing of how often networks err like this (external).",
            ),
            (
                "trap",
                "Here a larger c costs: B takes over at n = 11, 22 and 35 for c = 1.25, 2.5 and 4, the other way"
                " round than in the last scenario. So one scenario cannot choose c; an average over positions depends"
                " on their mixture. In whole trainings the seed is the largest threat: in 7×7 Go two gains of this"
                " project's log, +439 and +254 Elo after two seeds, were +193 ± 265 and +150 ± 155 after the third,"
                " that is, not shown.",
            ),
            (
                "example",
                "Results with effect sizes, Elo with 95 % intervals, from the log: the choice of the move by lower"
                " confidence bounds +21.6 (+9.3 to +33.8; 53.1 % of 1,000 games), narrower searches in 9×9 Go +81"
                " (+29 to +134) and in chess −104 (−165 to −43), random leaf symmetries +4 (−52 to +59), which shows"
                " nothing. Twenty Elo are 53 % of the points, so hundreds of games cannot see them. Report the"
                " intervals over games and over seeds apart: the first is about these networks, the second about the"
                " method.",
            ),
        ),
    ),
    (
        "For a researcher",
        (
            (
                "right",
                "PUCT as in AlphaGo Zero and AlphaZero, in its plainest form: constant c (no log-growth c(s)), first-"
                "play urgency 0, no Dirichlet noise, no virtual loss, no proof backups, no transpositions. The root's"
                " own evaluation does not count as a visit, so that ΣN equals the number of simulations; AlphaZero's"
                " pseudocode has √N(s) with that visit included, which moves the first few decisions only.",
            ),
            (
                "wrong",
                "The prior acts as a bias that decays as 1/N: regularised policy optimisation sees the visit"
                " distribution as approximating argmax πᵀQ − λ KL(P‖π) with λ ∝ √ΣN/(ΣN + |A|) (Grill et al., 2020)."
                " The failure at small c is the failure of exploration where FPU is 0 and Q(A) > 0: an action is first"
                " tried once c·P·√ΣN exceeds Q(A). For C that is n ≈ (Q/(cP))², here some hundred simulations at"
                " c = 0.25 and a handful at c = 4; the second visit, after −0.4, is what costs.",
            ),
            (
                "trap",
                "Mean backups are slow to believe a refutation: Q(A) is a visit-weighted average, and early optimistic"
                " evaluations stay in it. That is an argument for score bounds or a minimax-like backup, and for"
                " noise at the root during training, which finds low-prior refutations. As a policy target the visit"
                " counts after 40 simulations already carry the correction back into P.",
            ),
            (
                "example",
                "The policy improvement step in miniature: π after 60 simulations is nearly one-hot on C although P(C)"
                " = 0.1, since |ΔQ| is large against c·P. Training on π moves P; that operator, iterated, is the"
                " whole of the algorithm.",
            ),
        ),
    ),
)

SUMMARY: tuple[tuple[str, str], ...] = (
    ("right", "Where guess and search agree, c hardly matters."),
    ("wrong", "Where the guess is wrong, curiosity (c) and time find the better move: both are needed."),
    ("trap", "A refutation found late still counts: its value is backed up to the root, with its sign flipped."),
    ("example", "What is played is the most visited move: visits follow the values, not the first impression."),
)


def lesson_texts() -> dict[str, Any]:
    """All texts as JSON for the page."""
    return {
        "levels": [
            {"name": name, "parts": [{"scenario": scenario, "text": text} for scenario, text in parts]}
            for name, parts in LEVELS
        ],
        "summary": [{"scenario": scenario, "text": text} for scenario, text in SUMMARY],
    }
