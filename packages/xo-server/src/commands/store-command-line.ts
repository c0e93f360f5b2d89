import { Command, InvalidArgumentError } from "commander";
import type { StoreCommand } from "./store-command-types.js";

interface StoreOptions {
  readonly config?: string;
  readonly data?: string;
  readonly admin?: true;
  readonly stdin?: true;
}

/** Called with what was asked for. */
export type OnStoreCommand = (
  command: StoreCommand,
  options: { readonly config?: string; readonly data?: string },
) => void;

const AFTER_HELP = `
They work on the store that the config names, also while a server runs on it:
it takes notice within a second. Without --stdin a password is made and printed.`;

const AFTER_CONFIG_HELP = `
The file has everything but tasks and the audit log: servers with their
passwords, users, rights, resource sets. It is encrypted with a passphrase, which
is asked for, or taken from $XO_CONFIG_PASSPHRASE.`;

/** `xo-server user ...`, `xo-server config ...` and `xo-server audit ...` */
export function storeCommands(onCommand: OnStoreCommand): Command[] {
  return [
    userCommand(onCommand),
    configCommand(onCommand),
    auditCommand(onCommand),
  ];
}

function userCommand(onCommand: OnStoreCommand): Command {
  const user = new Command("user")
    .description("list, add, remove users; set passwords")
    .addHelpText("after", AFTER_HELP);
  user.addCommand(
    verb("list", "all users: name, permission, id").action(
      (options: StoreOptions) => {
        onCommand({ verb: "user list" }, options);
      },
    ),
  );
  user.addCommand(
    withPassword(verb("add <name>", "a new user"))
      .option("--admin", "who may do everything")
      .action((name: string, options: StoreOptions) => {
        const { admin = false, stdin = false } = options;
        const choices = { isAdmin: admin, fromStdin: stdin };
        onCommand({ verb: "user add", name, ...choices }, options);
      }),
  );
  user.addCommand(
    withPassword(
      verb("password <name>", "a new password; ends tokens and second factor"),
    ).action((name: string, options: StoreOptions) => {
      const { stdin = false } = options;
      onCommand({ verb: "user password", name, fromStdin: stdin }, options);
    }),
  );
  for (const [name, description] of [
    ["remove", "removes a user, with tokens and rights"],
    ["make-admin", "lets a user do everything"],
  ] as const)
    user.addCommand(
      verb(`${name} <name>`, description).action(
        (who: string, options: StoreOptions) => {
          onCommand({ verb: `user ${name}`, name: who }, options);
        },
      ),
    );
  return user;
}

function configCommand(onCommand: OnStoreCommand): Command {
  const config = new Command("config")
    .description("export or import the whole configuration")
    .addHelpText("after", AFTER_CONFIG_HELP);
  for (const [name, description] of [
    ["export", "writes the configuration into a new file"],
    ["import", "puts that of a file in the place of what is there"],
  ] as const)
    config.addCommand(
      verb(`${name} <file>`, description).action(
        (file: string, options: StoreOptions) => {
          onCommand({ verb: `config ${name}`, file }, options);
        },
      ),
    );
  return config;
}

interface AuditOptions extends StoreOptions {
  readonly user?: string;
  readonly operation?: string;
  readonly object?: string;
  readonly limit: number;
  readonly json?: true;
  readonly before: number;
}

function auditCommand(onCommand: OnStoreCommand): Command {
  const audit = new Command("audit").description("the log of what was changed");
  audit.addCommand(
    verb(
      "verify",
      "finds the first entry that is not as it was written",
    ).action((options: StoreOptions) => {
      onCommand({ verb: "audit verify" }, options);
    }),
  );
  audit.addCommand(
    verb("list", "the newest entries")
      .option("--user <name>", "whose")
      .option("--operation <name>", "such as vm.start")
      .option("--object <id>", "of what was changed")
      .option("--limit <number>", "at most", toCount, 100)
      .option("--json", "an entry a line, with all that it has")
      .action((options: AuditOptions) => {
        const { user, operation, object, limit, json = false } = options;
        onCommand(
          {
            verb: "audit list",
            limit,
            json,
            ...(user === undefined ? {} : { user }),
            ...(operation === undefined ? {} : { operation }),
            ...(object === undefined ? {} : { objectId: object }),
          },
          options,
        );
      }),
  );
  audit.addCommand(
    verb("prune", "takes old entries away; the rest stays verifiable")
      .requiredOption(
        "--before <date>",
        "such as 2026-01-31, or 2026-01-31T12:00:00Z",
        toTime,
      )
      .action((options: AuditOptions) => {
        const { before } = options;
        onCommand({ verb: "audit prune", before }, options);
      }),
  );
  return audit;
}

function toCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is a number from 1 to 9999999.");
}

/** A day begins at midnight of UTC. */
function toTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError("It is a date such as 2026-01-31.");
}

function verb(usage: string, description: string): Command {
  const [name, ...operands] = usage.split(" ");
  const command = new Command(name);
  for (const operand of operands) command.argument(operand);
  return command
    .description(description)
    .option("--config <file>", "config file (YAML)")
    .option("--data <dir>", "where the server keeps its own files");
}

function withPassword(command: Command): Command {
  return command.option(
    "--stdin",
    "the password is the first line of the standard input",
  );
}
