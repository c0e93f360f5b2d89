import { Command, InvalidArgumentError } from "commander";
import type { StoreCommand } from "./store-command-types.js";

interface StoreOptions {
  readonly config?: string;
  readonly data?: string;
  readonly admin?: true;
  readonly stdin?: true;
  readonly force?: true;
  readonly yes?: true;
  readonly allowNoAdmin?: true;
}

/** Called with the parsed command. */
type OnStoreCommand = (
  command: StoreCommand,
  options: { readonly config?: string; readonly data?: string },
) => void;

const AFTER_HELP = `
The commands work on the database of the config, also while a server runs on it:
the server applies changes within a second. Without --stdin a random password is
generated and printed.`;

const AFTER_CONFIG_HELP = `
The file contains everything but tasks and the audit log: servers with their
passwords, users, rights, resource sets. It is encrypted with a passphrase, which
is read from the terminal or from $XO_CONFIG_PASSPHRASE.

A copy every night, for cron (the command of the Debian package becomes the user
xo-server: files of other users are read and written by the shell):
  XO_CONFIG_PASSPHRASE=... xo-server config export - > /backup/xo.xoconf`;

const AFTER_LEAVE_HELP = `
The server of the config keeps its clients and its tasks; jobs, load balancers and
maintenance move to other servers. /health answers 404 with "leaving", so that a load
balancer sends it no new clients. Its next start ends this state. Requires PostgreSQL
and another running server.`;

/**
 * Parses `xo-server user ...`, `xo-server config ...`, `xo-server audit ...` and
 * `xo-server leave`.
 */
export function storeCommands(onCommand: OnStoreCommand): Command[] {
  return [
    userCommand(onCommand),
    configCommand(onCommand),
    auditCommand(onCommand),
    leaveCommand(onCommand),
  ];
}

function leaveCommand(onCommand: OnStoreCommand): Command {
  return verb(
    "leave",
    "hand over the leases of this server to others, before it is stopped for an upgrade",
  )
    .option("--force", "also if no other server is running")
    .addHelpText("after", AFTER_LEAVE_HELP)
    .action((options: StoreOptions) => {
      onCommand({ verb: "leave", isForced: options.force === true }, options);
    });
}

function userCommand(onCommand: OnStoreCommand): Command {
  const user = new Command("user")
    .description("list, create, delete users; reset passwords")
    .addHelpText("after", AFTER_HELP);
  user.addCommand(
    verb("list", "list users: name, permission, id").action(
      (options: StoreOptions) => {
        onCommand({ verb: "user list" }, options);
      },
    ),
  );
  user.addCommand(
    withPassword(verb("add <name>", "create a user"))
      .option("--admin", "with the permission admin")
      .action((name: string, options: StoreOptions) => {
        const { admin = false, stdin = false } = options;
        const choices = { isAdmin: admin, fromStdin: stdin };
        onCommand({ verb: "user add", name, ...choices }, options);
      }),
  );
  user.addCommand(
    withPassword(
      verb(
        "password <name>",
        "reset the password; revokes all tokens, removes two-factor authentication",
      ),
    ).action((name: string, options: StoreOptions) => {
      const { stdin = false } = options;
      onCommand({ verb: "user password", name, fromStdin: stdin }, options);
    }),
  );
  user.addCommand(
    verb("remove <name>", "delete a user with their tokens and rights")
      .option("--force", "also the last user with the permission admin")
      .action((name: string, options: StoreOptions) => {
        const isForced = options.force === true;
        onCommand({ verb: "user remove", name, isForced }, options);
      }),
  );
  user.addCommand(
    verb("make-admin <name>", "grant a user the permission admin").action(
      (name: string, options: StoreOptions) => {
        onCommand({ verb: "user make-admin", name }, options);
      },
    ),
  );
  return user;
}

function configCommand(onCommand: OnStoreCommand): Command {
  const config = new Command("config")
    .description("export or import the configuration")
    .addHelpText("after", AFTER_CONFIG_HELP);
  config.addCommand(
    verb("export <file>", "export the configuration; -: standard output")
      .option("--force", "replace the file if it exists")
      .action((file: string, options: StoreOptions) => {
        const isForced = options.force === true;
        onCommand({ verb: "config export", file, isForced }, options);
      }),
  );
  config.addCommand(
    verb(
      "import <file>",
      "import a configuration, replacing the current one; -: standard input",
    )
      .option("--yes", "do not ask for confirmation")
      .option(
        "--allow-no-admin",
        "also if no user with the permission admin could sign in",
      )
      .action((file: string, options: StoreOptions) => {
        const choices = {
          isConfirmed: options.yes === true,
          allowNoAdmin: options.allowNoAdmin === true,
        };
        onCommand({ verb: "config import", file, ...choices }, options);
      }),
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
  const audit = new Command("audit").description("audit log of changes");
  audit.addCommand(
    verb(
      "verify",
      "verify the integrity of the audit log; reports the first altered entry",
    ).action((options: StoreOptions) => {
      onCommand({ verb: "audit verify" }, options);
    }),
  );
  audit.addCommand(
    verb("list", "list entries, newest first")
      .option("--user <name>", "filter by user")
      .option("--operation <name>", "filter by operation, such as vm.start")
      .option("--object <id>", "filter by object")
      .option("--limit <number>", "maximum number of entries", toCount, 100)
      .option("--json", "one JSON object per line, with all fields")
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
    verb(
      "accept",
      "accept the log of a restored older database; records that in the log",
    ).action((options: StoreOptions) => {
      onCommand({ verb: "audit accept" }, options);
    }),
  );
  audit.addCommand(
    verb("prune", "delete old entries; the rest stays verifiable")
      .requiredOption(
        "--before <date>",
        "delete entries before this date, such as 2026-01-31 or 2026-01-31T12:00:00Z",
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
  throw new InvalidArgumentError("Must be a number from 1 to 9999999.");
}

/** Parses a date; without a time it is midnight UTC. */
function toTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError("Must be a date such as 2026-01-31.");
}

function verb(usage: string, description: string): Command {
  const [name, ...operands] = usage.split(" ");
  const command = new Command(name);
  for (const operand of operands) command.argument(operand);
  return command
    .description(description)
    .option("--config <file>", "config file (YAML)")
    .option("--data <dir>", "directory of the server's own files");
}

function withPassword(command: Command): Command {
  return command.option(
    "--stdin",
    "read the password from the first line of the standard input",
  );
}
