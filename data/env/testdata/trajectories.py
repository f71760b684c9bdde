"""Trajectories of the robots in Python's MuJoCo, for the tests of the Go package env.

    python trajectories.py MODELS > trajectories.json

MODELS is a folder with the models that the Go test writes: cheetah.xml, claw-V.xml for some
valves V and the files that these name. Rewards and observations are computed here
independently, in numpy. "plain" runs in gymnasium's HalfCheetah-v5. The committed
trajectories.json was made with mujoco 4.0.0 and gymnasium 1.4.0 on x86-64, by

    TVPS_PYTHON=python3 go test ./data/env -run Python -update
"""
import glob
import json
import os
import re
import sys

import gymnasium
import mujoco
import numpy as np

STEPS = 20


def action(step, size):
    """Numbers in [-1, 1], the same as those of wave in the Go test."""
    return np.array([((7 * step + 5 * j + 3 * step * j) % 11 - 5) / 5 for j in range(size)])


def start(size, scale):
    return np.array([scale * ((3 * j) % 7 - 3) / 3 for j in range(size)])


def cheetah(folder, episode=3):
    model = mujoco.MjModel.from_xml_path(os.path.join(folder, "cheetah.xml"))
    data = mujoco.MjData(model)
    qpos, qvel = start(9, 0.1), start(9, 0.2)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    wind, target = 10 * np.sin(0.2 * episode), 1.5 + 1.5 * np.sin(0.5 * episode)
    obs, rewards = [np.concatenate([data.qpos[1:], data.qvel])], []
    for t in range(STEPS):
        a = action(t, 6)
        data.ctrl[:] = [*a, wind]
        mujoco.mj_step(model, data, 5)
        obs.append(np.concatenate([data.qpos[1:], data.qvel]))
        rewards.append(-abs(data.qvel[0] - target) - 0.05 * np.sum(a * a))
    return {"name": "cheetah", "episode": episode, "qpos": qpos, "qvel": qvel, "obs": obs, "rewards": rewards}


def plain():
    env = gymnasium.make("HalfCheetah-v5").unwrapped
    env.reset(seed=0)
    qpos, qvel = start(9, 0.1), start(9, 0.2)
    mujoco.mj_resetData(env.model, env.data)
    env.set_state(qpos, qvel)
    obs, rewards = [env._get_obs()], []
    for t in range(STEPS):
        o, r, terminated, truncated, _ = env.step(action(t, 6))
        assert not terminated and not truncated
        obs.append(o)
        rewards.append(r)
    return {"name": "plain", "episode": 0, "qpos": qpos, "qvel": qvel, "obs": obs, "rewards": rewards}


def claw(path):
    valve = int(re.search(r"claw-(\d+)", path)[1])
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    rest = np.array([0, -np.pi / 3, np.pi / 3] * 3)
    scale = np.array([0.48, np.pi / 3, np.pi / 2] * 3)
    data.qpos[:9] = rest
    mujoco.mj_forward(model, data)

    def observe():
        q = data.qpos[9]
        error = np.mod(np.pi - q + np.pi, 2 * np.pi) - np.pi
        return np.concatenate([data.qpos[:9], data.qvel[:9], [np.cos(q), np.sin(q), error]])

    obs, rewards = [observe()], []
    for t in range(STEPS):
        q = data.qpos[:9].copy()
        data.ctrl[:] = q + np.clip(action(t // 4, 9) * scale - q, -0.1 * np.pi, 0.1 * np.pi)
        mujoco.mj_step(model, data, 40)
        o = observe()
        error, speed = abs(o[20]), o[9:18][np.abs(o[9:18]) >= 0.5]
        rewards.append(-5 * error - np.linalg.norm(o[:9] - rest) - np.linalg.norm(speed)
                       + 10 * (error < 0.25) + 50 * (error < 0.1))
        obs.append(o)
    return {"name": "claw", "episode": valve, "obs": obs, "rewards": rewards}


runs = [cheetah(sys.argv[1]), plain()] + [claw(p) for p in sorted(glob.glob(sys.argv[1] + "/claw-*.xml"))]
json.dump(runs, sys.stdout, default=lambda x: x.tolist() if hasattr(x, "tolist") else float(x))
