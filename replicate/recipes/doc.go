// Package recipes builds one example of everything that people add: a learner, a scenario, a network of g and a figure.
// Its tests declare them, each in one file, and make the figure at the tiny scale. CONTRIBUTING.md shows these files.
package recipes
