package claims

import (
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
)

// Show is what every place shows of the judged claims of a figure: the sentence that answers its question, their
// number by verdict, and each of them. command returns the command that measures panels, listed as "b,c".
func Show(claims []Judged, command func(panels string) string) figures.Figure {
	f := figures.Figure{Answer: answer(claims), Tally: tally(claims, "")}
	for _, c := range claims {
		f.Claims = append(f.Claims, c.onPage(command))
	}
	f.Tally += untested(claims...)
	return f
}

// Total counts the verdicts on the claims of several figures in words, as Show does for each. A claim with a Twin
// counts once, with it.
func Total(claims []Judged) string {
	once := withoutTwins(claims)
	kept, remark := 0, ""
	for _, c := range once {
		if !c.New && c.Verdict == Holds && c.Holm == Kept {
			kept++
		}
	}
	if slices.ContainsFunc(once, func(c Judged) bool { return c.Holm != "" }) {
		remark = fmt.Sprintf(" (%d also with Holm's correction)", kept)
	}
	return tally(once, remark) + untested(once...)
}

func withoutTwins(claims []Judged) []Judged {
	return slices.DeleteFunc(slices.Clone(claims), func(c Judged) bool { return c.Twin != "" })
}

// tally counts the verdicts in words: "6 claims: 3 hold, 1 holds partly, 2 are undecided; 1 repeats another;
// not counted: 1 holds". The last are New. The remark stands behind the number of those that hold.
func tally(claims []Judged, remark string) string {
	text := "no claim"
	own := counted(claims, false)
	switch len(own) {
	case 0:
	case 1:
		text = "1 claim " + strings.TrimPrefix(verdicts(own, remark), "1 ")
	default:
		text = fmt.Sprintf("%d claims: %s", len(own), verdicts(own, remark))
	}
	switch repeats := len(own) - len(withoutTwins(own)); repeats {
	case 0:
	case 1:
		text += "; 1 repeats another"
	default:
		text += fmt.Sprintf("; %d repeat another", repeats)
	}
	if added := counted(claims, true); len(added) > 0 {
		text += "; not counted: " + verdicts(added, "")
	}
	return text
}

// counted are the new claims, or the others.
func counted(claims []Judged, added bool) []Judged {
	return slices.DeleteFunc(slices.Clone(claims), func(c Judged) bool { return c.New != added })
}

// verdicts counts the verdicts: "2 hold, 1 is undecided". The remark stands after those that hold.
func verdicts(claims []Judged, remark string) string {
	count := map[Verdict]int{}
	for _, c := range claims {
		count[c.Verdict.kind()]++
	}
	var parts []string
	for _, v := range []struct {
		verdict   Verdict
		one, many string
	}{
		{Holds, "holds" + remark, "hold" + remark},
		{Partly, "holds partly", "hold partly"},
		{DoesNotHold, "does not hold", "do not hold"},
		{NoDifference, "shows no difference", "show no difference"},
		{Undecided, "is undecided", "are undecided"}, {NotRun, "is not run", "are not run"},
		{NotJudged, "is not judged", "are not judged"},
	} {
		switch n := count[v.verdict]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+v.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, v.many))
		}
	}
	return strings.Join(parts, ", ")
}

// answer is the sentence that answers the question of a figure, made from the verdicts on those of its claims that have
// a short form: what holds, what does not, what is undecided.
func answer(judged []Judged) []figures.Answer {
	var out []figures.Answer
	for _, v := range []Verdict{Holds, Partly, DoesNotHold, NoDifference, Undecided, NotJudged, NotRun} {
		var texts []string
		var of []Judged
		for _, c := range judged {
			if c.Short != "" && c.Verdict.kind() == v {
				texts, of = append(texts, c.Short+c.on()+inParentheses(c.measured())), append(of, c)
			}
		}
		if len(texts) > 0 {
			verdict := figures.Verdict{Word: v.Short(), Outcome: outcomes[v]}
			out = append(out, figures.Answer{Verdict: verdict, Text: strings.Join(texts, "; ") + untested(of...)})
		}
	}
	return out
}
