import { Command } from "commander";

export interface DoctorCommand {
  readonly configPath: string | undefined;
  readonly dataDir: string | undefined;
  readonly json: boolean;
  /** Whether the command connects to the pools. */
  readonly checksPools: boolean;
}

interface Options {
  readonly config?: string;
  readonly data?: string;
  readonly json?: true;
  readonly pools: boolean;
}

const AFTER_HELP = `
Nothing is changed; the server may be running. Exit codes: 0 all is well, 1 errors,
2 warnings only.`;

/** Runs `xo-server doctor`. */
export function doctorCommand(
  onCommand: (command: DoctorCommand) => void,
): Command {
  return new Command("doctor")
    .description(
      "check config, data, keys, ports, database, system and pools: what is wrong, and what to do",
    )
    .option("--config <file>", "config file (YAML)")
    .option("--data <dir>", "directory of the server's own files")
    .option("--json", "machine-readable report")
    .option("--no-pools", "do not connect to the pools")
    .addHelpText("after", AFTER_HELP)
    .action(({ config, data, json, pools }: Options) => {
      onCommand({
        configPath: config,
        dataDir: data,
        json: json === true,
        checksPools: pools,
      });
    });
}
