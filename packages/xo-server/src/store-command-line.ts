import { Command } from "commander";
import type { StoreCommand } from "./store-command.js";

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

/** `xo-server user ...` and `xo-server audit ...` */
export function storeCommands(onCommand: OnStoreCommand): Command[] {
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
  const audit = new Command("audit").description("the log of what was changed");
  audit.addCommand(
    verb(
      "verify",
      "finds the first entry that is not as it was written",
    ).action((options: StoreOptions) => {
      onCommand({ verb: "audit verify" }, options);
    }),
  );
  return [user, audit];
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
