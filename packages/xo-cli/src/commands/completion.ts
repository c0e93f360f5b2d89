import { Argument, Command } from "commander";
import type { Run } from "../command.js";
import { knownTypes } from "../objects/object-types.js";
import { toCompletion } from "../completion-script.js";

/** `xo-cli completion`: prints a script of the commands and options; needs no server. */
export function completionCommand(run: Run): Command {
  return new Command("completion")
    .description("shell completion script")
    .addArgument(
      new Argument("<shell>").choices(["bash", "zsh", "fish"] as const),
    )
    .addHelpText(
      "after",
      `
  bash: xo-cli completion bash > ~/.local/share/bash-completion/completions/xo-cli
  zsh:  xo-cli completion zsh > a folder of $fpath, as _xo-cli
  fish: xo-cli completion fish > ~/.config/fish/completions/xo-cli.fish`,
    )
    .action((shell: "bash" | "zsh" | "fish", _options: object, command) => {
      const one = command as Command;
      run(one, ({ terminal }) =>
        terminal.write(toCompletion(shell, one.parent!, knownTypes)),
      );
    });
}
