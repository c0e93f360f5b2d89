import { join } from "node:path";
import type { Engine, Job } from "./engine.js";
import { measureScript } from "./measured-command.js";

const at = ({ folder }: Job, name: string) => `"${join(folder, name)}"`;

/** The limit: compression and a cipher, without hashing, deduplication and authentication. */
export const pipeEngine: Engine = {
  name: "zstd -1 -T2 | openssl",
  command: "openssl",
  repository: ({ folder }) => join(folder, "pipe"),
  async prepare(job) {
    await measureScript(`mkdir -p ${at(job, "pipe")}`);
  },
  full: (job) =>
    measureScript(
      `zstd -q -1 -T2 -c "${job.image}" | openssl enc -aes-256-ctr -K ${"0".repeat(64)} -iv ${"0".repeat(32)} > ${at(job, "pipe/out")}; sync ${at(job, "pipe/out")}`,
    ),
  restore: (job, target) =>
    measureScript(
      `openssl enc -d -aes-256-ctr -K ${"0".repeat(64)} -iv ${"0".repeat(32)} -in ${at(job, "pipe/out")} | zstd -q -d --sparse -o "${target}"; sync "${target}"`,
    ),
};

const resticEnv = { RESTIC_PASSWORD: "benchmark" };

export const resticEngine: Engine = {
  name: "restic",
  command: "restic",
  repository: ({ folder }) => join(folder, "restic"),
  async prepare(job) {
    await measureScript(`restic init -q -r ${at(job, "restic")}`, {
      env: resticEnv,
    });
  },
  full: (job) => resticBackup(job),
  incremental: (job) => resticBackup(job),
  restore: (job, target) =>
    measureScript(
      `restic --no-cache -q -r ${at(job, "restic")} dump latest image > "${target}"; sync "${target}"`,
      { env: resticEnv },
    ),
};

function resticBackup(job: Job) {
  return measureScript(
    `restic --no-cache -q -r ${at(job, "restic")} backup --stdin --stdin-filename image < "${job.image}"`,
    { env: resticEnv },
  );
}

const borgEnv = {
  BORG_PASSPHRASE: "benchmark",
  BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK: "yes",
};

export const borgEngine: Engine = {
  name: "borg",
  command: "borg",
  repository: ({ folder }) => join(folder, "borg"),
  async prepare(job) {
    await measureScript(`borg init -e repokey-blake2 ${at(job, "borg")}`, {
      env: borgBase(job),
    });
  },
  full: (job) => borgCreate(job, "full"),
  incremental: (job) => borgCreate(job, "incremental"),
  restore: (job, target) =>
    measureScript(
      `borg extract --stdout ${at(job, "borg")}::incremental > "${target}"; sync "${target}"`,
      { env: borgBase(job) },
    ),
};

function borgCreate(job: Job, archive: string) {
  return measureScript(
    `borg create -C zstd,1 ${at(job, "borg")}::${archive} - < "${job.image}"`,
    { env: borgBase(job) },
  );
}

/** Keys and caches in the job's folder, not in the user's. */
function borgBase({ folder }: Job) {
  return { ...borgEnv, BORG_BASE_DIR: join(folder, "borg-base") };
}
