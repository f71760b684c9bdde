package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tvps/data/artifact"
	"tvps/data/cifar10"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// pretraining is one call of pretrain: its flags, backend and data.
type pretraining struct {
	cfg     resnet.Config
	out     string           // folder of the checkpoints
	name    string           // of the backend
	backend *backend.Backend // nil until open
	params  []net.Param
	data    *cifar10.Data
}

func pretrainCommand() *cobra.Command {
	p := &pretraining{cfg: resnet.DefaultConfig(16)}
	cmd := &cobra.Command{
		Use:   "pretrain",
		Short: "Train ResNet-18 on the training split of CIFAR-10; continues an interrupted training",
		Args:  usage.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.run(cmd.Context()) },
	}
	cmd.Flags().IntVar(&p.cfg.Width, "width", p.cfg.Width,
		"channels of the first stage: 16 for a laptop, 64 as in the paper")
	cmd.Flags().IntVar(&p.cfg.Epochs, "epochs", p.cfg.Epochs, "passes over the training images; 100 in the paper")
	cmd.Flags().Int64Var(&p.cfg.Seed, "seed", 0, "seed of the split, the initial weights and the batch order")
	cmd.Flags().StringVar(&p.out, "out", "", "folder of the checkpoints (default: checkpoints in the cache)")
	cmd.Flags().StringVar(&p.name, "backend", "", backendHelp)
	return cmd
}

func (p *pretraining) run(ctx context.Context) error {
	if err := cmp.Or(usage.Error(p.cfg.Validate()), lab.CheckBackend(p.name), usage.Folder(p.out)); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	final := p.final()
	unlock, err := artifact.Lock(ctx, final+".lock", "the training of "+final, os.Stderr)
	if err != nil {
		return err
	}
	defer unlock()
	return p.train(ctx)
}

// final is the file of the checkpoint.
func (p *pretraining) final() string {
	return filepath.Join(p.out, resnet.FileName(p.cfg.Width, p.cfg.Seed))
}

// train continues or starts the training, whose state it keeps in a file next to the checkpoint, and writes that.
func (p *pretraining) train(ctx context.Context) error {
	working := p.final() + ".training"
	state, err := p.resume(working)
	if err != nil {
		return err
	}
	if state != nil {
		fmt.Fprintf(os.Stderr, "Continuing after epoch %d of %d.\n", state.Epoch, p.cfg.Epochs)
	}
	start := time.Now()
	save := func(s *resnet.State) error {
		fmt.Fprintf(os.Stderr, "\nEpoch %d of %d done: training loss %.4f, %s since the start.\n",
			s.Epoch, p.cfg.Epochs, s.Loss, time.Since(start).Round(time.Second))
		return s.Checkpoint(p.params, true).Save(working)
	}
	trainRows, validationRows := cifar10.Split(p.data.Train.Len(), p.cfg.Seed)
	training, validation := images(p.data.Train.Select(trainRows)), images(p.data.Train.Select(validationRows))
	state, err = resnet.Pretrain(ctx, p.backend.Backend, p.cfg, training, state, save, reporter())
	if errors.Is(err, context.Canceled) {
		return usage.Interruptedf("interrupted; the finished epochs are kept in %s, and the same command continues there",
			working)
	}
	if err != nil {
		return err
	}
	return p.finish(ctx, state, validation)
}

// open loads the data and opens the backend, if there is none. Errors: full CIFAR-10 is missing, or the backend cannot
// be opened.
func (p *pretraining) open(ctx context.Context) (err error) {
	if p.out == "" {
		if p.out, err = artifact.CacheDir("checkpoints"); err != nil {
			return err
		}
	}
	if p.data, err = cifar10.Load(); err != nil {
		return err
	}
	if !p.data.Source.Full {
		return fmt.Errorf("pre-training needs full CIFAR-10; " +
			"get it with `go run ./replicate data cifar10`, or set TVPS_DATA to its folder")
	}
	if p.backend == nil {
		if p.backend, err = backend.Open(ctx, p.name, backend.Options{Log: os.Stderr}); err != nil {
			return err
		}
	}
	p.params, err = resnet.Params(p.backend.Backend, p.cfg.Width)
	return err
}

// resume reads the state of an interrupted training; nil if there is none.
func (p *pretraining) resume(path string) (*resnet.State, error) {
	c, err := net.ReadCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return resnet.Resume(c, p.params, p.cfg)
}

// finish measures the network and writes the finished checkpoint.
func (p *pretraining) finish(ctx context.Context, state *resnet.State, validation resnet.Images) error {
	c := state.Checkpoint(p.params, false)
	valid, err := resnet.Accuracy(ctx, p.backend.Backend, &c, p.cfg.Width, validation)
	if err != nil {
		return err
	}
	test, err := resnet.Accuracy(ctx, p.backend.Backend, &c, p.cfg.Width, images(p.data.Test))
	if err != nil {
		return err
	}
	info := p.backend.Info
	made := runs.NewProvenance(info.Name, nil)
	for key, value := range map[string]string{
		"data":          fmt.Sprint("CIFAR-10, 90% of the official training images by split seed ", p.cfg.Seed),
		"test-accuracy": fmt.Sprintf("%.4f", test), "validation-accuracy": fmt.Sprintf("%.4f", valid),
		"commit": made.Commit, "dirty": fmt.Sprint(made.Dirty), "made": made.Start.Format(time.DateOnly),
		"backend": info.Name, "plugin-sha256": info.PluginSHA256,
		"go": made.Versions["go"], "gomlx": made.Versions["github.com/gomlx/gomlx"],
		"command": fmt.Sprintf("go run ./replicate pretrain --width %d --epochs %d --seed %d",
			p.cfg.Width, p.cfg.Epochs, p.cfg.Seed),
	} {
		c.Metadata[key] = value
	}
	if err := c.Save(p.final()); err != nil {
		return err
	}
	fmt.Printf("ResNet-18 of width %d, split %d: validation accuracy %.4f, test accuracy %.4f.\n%s\n",
		p.cfg.Width, p.cfg.Seed, valid, test, p.final())
	return nil
}

func images(s cifar10.Set) resnet.Images { return resnet.Images{Pixels: s.Pixels, Labels: s.Labels} }

// reporter returns a function that shows progress.
func reporter() func(resnet.Progress) {
	bar := artifact.NewDisplay(os.Stderr)
	return func(p resnet.Progress) {
		done := float64((p.Epoch-1)*p.Steps+p.Step) / float64(p.Epochs*p.Steps)
		bar.Show(done, fmt.Sprintf("epoch %d of %d, step %d of %d, loss %.3f, %s left",
			p.Epoch, p.Epochs, p.Step, p.Steps, p.Loss, p.Left.Round(time.Second)))
	}
}
