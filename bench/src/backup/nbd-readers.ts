import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Figures } from "../harness/figures.js";
import { toResult, type Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { isInstalled, measureScript, type Cost } from "./measured-command.js";
import { startNbdServer, type NbdServerProcess } from "./nbd-server-process.js";

/** Modes of the results. */
export const NBD_OURS = "NBD: xo-server";
export const NBD_COPY = "NBD: nbdcopy";

const program = fileURLToPath(
  new URL("./programs/read-nbd.js", import.meta.url),
);

/**
 * The NBD source of a worker and nbdcopy read an export to nothing, in turns, from one nbdkit.
 * @param folder for its files; must exist
 * @returns nothing where nbdkit is not installed
 */
export async function measureNbdReaders(
  folder: string,
  { runs, sizeMib }: { runs: number; sizeMib: number },
): Promise<Result[]> {
  if (!isInstalled("nbdkit")) return [];
  const server = await startNbdServer(folder, sizeMib);
  try {
    const modes = [NBD_OURS, ...(isInstalled("nbdcopy") ? [NBD_COPY] : [])];
    const measured = await measureInRounds(modes, {
      runs,
      measure: (mode) => readOnce(mode, server),
      onRun: (mode, outcome) =>
        process.stderr.write(
          `${mode} ${outcome instanceof Error ? outcome.message : ""}\n`,
        ),
    });
    return measured.map((one) =>
      toResult({ pool: "", mode: one.row, place: "" }, one),
    );
  } finally {
    await server.stop();
  }
}

/** Reads the whole export to nothing, by a process of its own. */
async function readOnce(
  mode: string,
  server: NbdServerProcess,
): Promise<Figures> {
  const cost = await (mode === NBD_OURS
    ? readByUs(server)
    : readByCopy(server));
  return {
    nbdMib: server.sizeMib,
    nbdMs: cost.ms,
    nbdCpuMs: cost.cpuMs,
    nbdRssMib: cost.rssMib,
  };
}

async function readByUs(server: NbdServerProcess): Promise<Cost> {
  const { port, certificates } = server;
  const source = {
    type: "nbd",
    servers: [
      {
        address: "127.0.0.1",
        port,
        tls: {
          certificates: await readFile(
            join(certificates, "ca-cert.pem"),
            "utf8",
          ),
          hostname: "localhost",
        },
      },
    ],
    exportName: "",
  };
  return measureScript(`"${process.execPath}" "${program}" "$SOURCE"`, {
    env: { SOURCE: JSON.stringify(source), MALLOC_ARENA_MAX: "2" },
  });
}

function readByCopy({ port, certificates }: NbdServerProcess): Promise<Cost> {
  return measureScript(
    `nbdcopy "nbds://localhost:${port}/?tls-certificates=${certificates}" null:`,
  );
}
