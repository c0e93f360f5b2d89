import { Type } from "typebox";
import { count, section } from "./config-parts.js";

export const BackupConfig = section("Backups.", {
  maxWorkers: count(
    4,
    "Maximum number of processes that read or write data of backups at the same time.",
  ),
  workerNiceness: Type.Integer({
    default: 10,
    minimum: 0,
    maximum: 19,
    description:
      "Added to the nice value of the server for these processes, 0 to 19. With 0 they compete with the server, and with other programs of a busy machine, as equals.",
  }),
});
