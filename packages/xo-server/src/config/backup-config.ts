import { count, section } from "./config-parts.js";

export const BackupConfig = section("Backups.", {
  maxWorkers: count(
    4,
    "Maximum number of processes that read or write data of backups at the same time.",
  ),
});
