import { Command } from "commander";
import { findRepository, readRepositories } from "../backup/repository.js";
import { RequestError, usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { variable } from "../host.js";
import { printRows } from "../output/print-rows.js";
import { toReadable } from "../output/readable.js";
import { confirm, promptSecret } from "../prompt.js";
import { runAction } from "../server/run-action.js";
import { repositoryAddCommand } from "./repository-add.js";

const TEST_FAILED = { code: "FAILED", message: "the test failed" };
const NAME = "id or name, see xo-cli repository list";

export function repositoryCommand(run: Run): Command {
  return new Command("repository")
    .description("add, list, test and verify backup repositories")
    .addCommand(listCommand(run))
    .addCommand(repositoryAddCommand(run))
    .addCommand(testCommand(run))
    .addCommand(verifyCommand(run))
    .addCommand(collectCommand(run))
    .addCommand(sheetCommand(run))
    .addCommand(removeCommand(run));
}

function listCommand(run: Run): Command {
  return new Command("list")
    .description("list backup repositories")
    .action((_options: object, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        const objects = await readRepositories(rpc);
        await printRows(context, {
          objects,
          rows: objects.map(({ id, name, url, enabled, error, state }) => ({
            name,
            url,
            state: error?.code ?? (enabled ? "reachable" : "disabled"),
            size: state.stored ?? null,
            verified_time: state.verification?.endedAt ?? null,
            damaged: state.verification?.findings?.length ?? 0,
            id,
          })),
          columns: [
            "name",
            "url",
            "state",
            "size",
            "verified_time",
            "damaged",
            "id",
          ],
          none: "No backup repositories",
        });
      });
    });
}

function testCommand(run: Run): Command {
  return new Command("test")
    .description("open a repository; write, read and delete a file of 64 MiB")
    .argument("<repository>", NAME)
    .action((name: string, _options: object, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        const { id } = await findRepository(rpc, name);
        const result = (await rpc.call("remote.test", { id })) as {
          readonly success?: boolean;
          readonly error?: { readonly code: string; readonly message: string };
        };
        await print(context, result);
        const { code, message } = result.error ?? TEST_FAILED;
        if (result.success === false) throw new RequestError(message, code);
      });
    });
}

function verifyCommand(run: Run): Command {
  return new Command("verify")
    .description("verify checksums of a repository, and repair damaged files")
    .argument("<repository>", NAME)
    .option("--all", "all data instead of what is due")
    .option("--no-wait", "do not wait for its end")
    .action(
      (
        name: string,
        { all, wait }: { all?: boolean; wait: boolean },
        command: Command,
      ) => {
        const params = all === undefined ? {} : { all };
        run(command, (context) =>
          act(context, { name, action: "verify", params, wait }),
        );
      },
    );
}

function collectCommand(run: Run): Command {
  return new Command("collect-garbage")
    .description(
      "delete files that no backup needs and that were marked a day ago",
    )
    .argument("<repository>", NAME)
    .option("--no-wait", "do not wait for its end")
    .action((name: string, { wait }: { wait: boolean }, command: Command) => {
      run(command, (context) =>
        act(context, { name, action: "collect_garbage", params: {}, wait }),
      );
    });
}

async function act(
  context: Context,
  {
    name,
    action,
    ...more
  }: {
    readonly name: string;
    readonly action: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly wait: boolean;
  },
): Promise<void> {
  const server = await context.server();
  const { id } = await findRepository(await server.signIn(), name);
  const path = `backup-repositories/${encodeURIComponent(id)}/actions/${action}`;
  await runAction(context, server, { path, ...more });
}

function sheetCommand(run: Run): Command {
  return new Command("sheet")
    .description("print the recovery sheet of a repository")
    .argument("<repository>", NAME)
    .addHelpText(
      "after",
      "\nYour password is that of $XO_PASSWORD, of a prompt, or the first line of stdin.",
    )
    .action((name: string, _options: object, command: Command) => {
      run(command, async (context) => {
        const { host, terminal } = context;
        const rpc = await (await context.server()).signIn();
        const { id } = await findRepository(rpc, name);
        const password =
          variable(host, "XO_PASSWORD") ??
          (await promptSecret(host, "Password"));
        if (password === "")
          throw usageError("no password", "set $XO_PASSWORD, or use stdin");
        const answer = await rpc.call("backupRepository.getRecoverySheet", {
          id,
          password,
        });
        const { recoverySheet } = answer as { readonly recoverySheet: string };
        if (terminal.json) await terminal.jsonLine(answer);
        else await terminal.write(toReadable(recoverySheet));
      });
    });
}

function removeCommand(run: Run): Command {
  return new Command("remove")
    .description(
      "remove a repository from the server; its files are not deleted",
    )
    .argument("<repository>", NAME)
    .option("--yes", "do not ask for confirmation")
    .action((name: string, { yes }: { yes?: boolean }, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        const repository = await findRepository(rpc, name);
        if (yes !== true)
          await confirm(
            context.host,
            `Jobs can no longer use ${repository.name}; its files are not deleted`,
          );
        await print(
          context,
          await rpc.call("remote.delete", { id: repository.id }),
        );
      });
    });
}

async function print({ terminal }: Context, value: unknown): Promise<void> {
  if (terminal.json) await terminal.jsonLine(value);
  else await terminal.write(toReadable(value));
}
