"""Learning curve of SBX's SAC (JAX) on gymnasium's HalfCheetah-v5, for a comparison with ours.

    python3 -m venv venv
    venv/bin/pip install sbx-rl==0.28.0 gymnasium==1.4.0 mujoco==4.0.0 imageio packaging
    venv/bin/python ci/research/peers/halfcheetah.py sbx.csv [steps [seeds]]

The settings are those of ci/research/peers_test.go. A row is the mean undiscounted return of five
evaluation episodes with the mean action. Printed are training steps per second since the line
before, without evaluation; the first line includes the random steps, which have no updates.
Our throughput: go test ./replicate/robots -run xxx -bench Train/sac/seeds=1
"""
import csv
import sys
import time

import gymnasium
from sbx import SAC

path, steps, seeds = (sys.argv[1:] + ["sbx.csv", "20000", "5"][len(sys.argv) - 1:])[:3]
steps, seeds = int(steps), int(seeds)
EVERY, EPISODES, BURN_IN = 2000, 5, 1000


def evaluate(model, env, seed):
    total = 0.0
    for episode in range(EPISODES):
        seen, _ = env.reset(seed=1_000_000 + 1000 * seed + episode)
        over = False
        while not over:
            action, _ = model.predict(seen, deterministic=True)
            seen, reward, terminated, truncated, _ = env.step(action)
            total += reward
            over = terminated or truncated
    return total / EPISODES


with open(path, "w", newline="") as out:
    rows = csv.writer(out)
    rows.writerow(["panel", "series", "seed", "t", "metric", "value"])
    for seed in range(seeds):
        env, other = gymnasium.make("HalfCheetah-v5"), gymnasium.make("HalfCheetah-v5")
        model = SAC("MlpPolicy", env, seed=seed, learning_rate=3e-4, buffer_size=1_000_000,
                    learning_starts=BURN_IN, batch_size=256, tau=.005, gamma=.99, train_freq=1,
                    gradient_steps=1, ent_coef="auto_0.2", policy_kwargs=dict(net_arch=[256, 256]))
        for t in range(EVERY, steps + 1, EVERY):
            begin = time.time()
            model.learn(EVERY, reset_num_timesteps=False)
            spent = time.time() - begin
            value = evaluate(model, other, seed)
            rows.writerow(["halfcheetah", "sbx", seed, t, "return", f"{value:.3f}"])
            out.flush()
            print(seed, t, round(value, 1), f"{EVERY / spent:.0f} steps/s", flush=True)
