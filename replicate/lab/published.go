package lab

import (
	"encoding/json"
	"fmt"
	"slices"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// judge judges a figure's claims by panels. Notes on the declared runs are left out where settings are others.
func (o Options) judge(f paper.Figure, panels []claims.Collected) []claims.Judged {
	judged := claims.Judge(f, panels)
	if len(o.Overrides) > 0 {
		for i := range judged {
			judged[i].Note = ""
		}
	}
	return judged
}

// besideGallery returns judged claims with what the gallery says of each.
func (o Options) besideGallery(judged []claims.Judged) ([]claims.Judged, error) {
	gallery, err := o.published()
	for i, c := range judged {
		judged[i].Holm, judged[i].Gallery = holmOf(c, gallery), inGallery(c, gallery)
	}
	return judged, err
}

// published returns the gallery's verdicts on claims at the scale of these options, by the claim's ID. There are none
// for other settings or learners than those of the gallery.
func (o Options) published() (map[string]claims.Judged, error) {
	text := map[experiment.Scale][]byte{experiment.Small: figures.GallerySmall, experiment.Medium: figures.GalleryMedium}[o.Scale]
	if text == nil || len(o.Overrides) > 0 || len(o.Learners) > 0 {
		return nil, nil
	}
	var v claims.Verification
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("the gallery's verdicts in the program cannot be read: %w", err)
	}
	out := map[string]claims.Judged{}
	for _, c := range v.Claims {
		out[c.ID] = c
	}
	return out, nil
}

// holmOf is what Holm's correction for all claims of the gallery makes of the verdict on a claim that was judged by the
// same numbers as there; empty for others, as it takes all claims.
func holmOf(here claims.Judged, gallery map[string]claims.Judged) claims.Holm {
	there := gallery[here.ID]
	if !slices.EqualFunc(here.Parts, there.Parts, func(a, b claims.JudgedPart) bool {
		return a.Effect == b.Effect && a.Level == b.Level && a.Verdict == b.Verdict
	}) {
		return ""
	}
	return there.Holm
}

// inGallery says what the gallery's runs say about a claim, as "gallery: holds (8 seeds, every 2nd step)". It is empty
// where they are no larger sample than the claim was judged by.
func inGallery(here claims.Judged, gallery map[string]claims.Judged) string {
	there, ok := gallery[here.ID]
	if !ok || slices.EqualFunc(here.Parts, there.Parts, func(a, b claims.JudgedPart) bool {
		return a.Effect.N >= b.Effect.N && a.Steps >= b.Steps
	}) {
		return ""
	}
	return fmt.Sprintf("gallery: %s (%s)", there.Word(), there.Parts[0].Sample())
}
