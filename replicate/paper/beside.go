package paper

// beside is what the paper's figure and text say of its panels. Words in quotation marks are the paper's; it prints no
// accuracy, score or return of them as a number. Panels that the paper does not have are not listed.
var beside = map[string]string{
	"fig01-a": `Ours "performs much better than Everything and similarly to others"; Recent and Fine-tune "are like oracle"`,
	"fig01-b": `Ours is the best; Everything "works better than Fine-tune and Recent"; Recent "performs the worst", so it is a ` +
		"dashed line",
	"fig01-c": "as b",
	"fig01-d": `Ours "consistently maintains its effectiveness"; Recent "performs the worst"; 500 models a learner`,
	"fig02-a": `Ours "consistently outperforms other methods in terms of sample complexity"; 10 seeds`,
	"fig02-b": `Ours is above SAC with context; SAC is there "to underscore the challenging nature of the task"; 10 seeds`,
	"fig03-a": `Ours "works better than standard propensity method"`,
	"fig03-b": `Ours "fairly detects shifts across different time steps", the standard score "largely ignores" them`,
	"fig04-a": "Ours is better than Meta-Weight-Net and than Everything",
	"fig04-b": "as a, on CLEAR",
	"fig05-a": "the mean of x repeats every 5 steps: times 84, 79, 74 and 69 are as time 99; its standard deviation is 1",
	"fig05-b": `Ours is highest at 84, 79, 74 and 69; the standard score "is unable to identify the distribution shift"`,
	"fig06-a": `Ours is above Everything; Recent "performs the worst", so it is a dashed line`,
	"fig06-b": "the scores of Ours by time; the text does not describe their course",
	"fig07-a": "Ours lies above Everything; the runs are those of Figure 1",
	"fig07-b": "as a",
	"fig07-c": "as a, on CLEAR",
	"fig08-a": `"both methods perform similarly, although Method 1 has a slight edge"`,
	"fig08-b": "as a",
	"fig08-c": "as a, on CLEAR",
	"fig09-a": `the distance of the raw past "grows"; the gap to the weighted one is "small"; 200 images a step, kernel not named`,
	"fig10-a": "SAC with omega is better than SAC in sample complexity and in stability, which is a narrower band",
	"fig10-b": `"Our method works better in both settings"`,
	"fig11-a": "with omega, SAC with context is better in sample complexity and in stability, which is a narrower band",
	"fig12-a": "as Figure 1b, with 3 seeds",
	"fig12-b": "as Figure 1c, with 3 seeds",
	"fig12-c": `"the consistency of our method across both 3 seeds and 8 seeds"`,
	"fig12-d": "as c",
	"fig13-a": `"our methods consistently outperform Everything", with 200 samples a step`,
	"fig13-b": "as a, with 50",
	"fig13-c": "as a, with 100",
	"fig13-d": "as a, with 300",
	"fig14-a": `"our method and Everything perform similarly"`,
}

// Beside is what the paper says of a panel of a figure, in a line; empty for a panel that it does not have.
func Beside(figure, key string) string { return beside[figure+"-"+key] }
