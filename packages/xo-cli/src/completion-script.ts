import type { Command, Option } from "commander";

type Shell = "bash" | "zsh" | "fish";

/** Commands whose argument is an object type. */
const TYPED = new Set(["list", "watch"]);

/** A completion and its description. */
interface Word {
  readonly text: string;
  readonly about: string;
}

interface CommandWords {
  /** The preceding commands: `rest get`. */
  readonly path: string;
  readonly words: readonly Word[];
}

/** Generates the script from the commander program. */
export function toCompletion(
  shell: Shell,
  program: Command,
  types: readonly string[],
): string {
  const all = listCommands(program, types);
  switch (shell) {
    case "bash":
      return toBash(all);
    case "zsh":
      return toZsh(all);
    case "fish":
      return toFish(all);
  }
}

function listCommands(
  program: Command,
  types: readonly string[],
): CommandWords[] {
  const globals = program.options.map(toWord);
  const walk = (command: Command, path: string): CommandWords[] => [
    { path, words: [...wordsOf(command, types), ...globals] },
    ...command.commands.flatMap((one) =>
      walk(one, `${path} ${one.name()}`.trim()),
    ),
  ];
  return walk(program, "");
}

function wordsOf(command: Command, types: readonly string[]): Word[] {
  const commands = command.commands.map((one) => ({
    text: one.name(),
    about: one.description(),
  }));
  const options = command.parent === null ? [] : command.options.map(toWord);
  const choices = command.registeredArguments.flatMap(
    ({ argChoices }) => argChoices ?? [],
  );
  const argumentWords = TYPED.has(command.name()) ? types : choices;
  const others = argumentWords.map((text) => ({ text, about: "" }));
  return [...commands, ...others, ...options];
}

function toWord({ long, short, description }: Option): Word {
  return { text: long ?? short ?? "", about: description };
}

/** The script finds the command path by the typed words, ignoring options. */
function toBash(all: readonly CommandWords[]): string {
  const cases = all.map(
    ({ path, words }) =>
      `    ${quote(path)}) words=${quote(words.map(({ text }) => text).join(" "))} ;;`,
  );
  return `# xo-cli completion for bash
_xo_cli() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command:+$command }$word" in
${all
  .filter(({ path }) => path !== "")
  .map(({ path }) => `      ${quote(path)}) command=${quote(path)} ;;`)
  .join("\n")}
    esac
  done
  case "$command" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _xo_cli xo-cli
`;
}

function toZsh(all: readonly CommandWords[]): string {
  const cases = all.map(({ path, words }) => {
    const descriptions = words.map(({ text, about }) =>
      quote(`${text.replaceAll(":", "\\:")}:${about}`),
    );
    return `    ${quote(path)}) options=(${descriptions.join(" ")}) ;;`;
  });
  return `#compdef xo-cli
_xo_cli() {
  local command= word
  local -a options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${command:+$command }$word" in
${all
  .filter(({ path }) => path !== "")
  .map(({ path }) => `      ${quote(path)}) command=${quote(path)} ;;`)
  .join("\n")}
    esac
  done
  case "$command" in
${cases.join("\n")}
  esac
  _describe xo-cli options || _files
}
if [ "$funcstack[1]" = "_xo-cli" ]; then _xo_cli "$@"; else compdef _xo_cli xo-cli; fi
`;
}

function toFish(all: readonly CommandWords[]): string {
  const cases = all
    .filter(({ path }) => path !== "")
    .map(({ path }) => `      case ${quote(path)}; set command ${quote(path)}`);
  const lines = all.flatMap(({ path, words }) =>
    words.map(({ text, about }) => {
      const what = text.startsWith("--")
        ? `-l ${text.slice(2)}`
        : `-a ${quote(text)}`;
      const where = quote(`__xo_cli_at ${path}`.trim());
      return `complete -c xo-cli -n ${where} ${what} -d ${quote(about)}`;
    }),
  );
  return `# xo-cli completion for fish
function __xo_cli_at
  set -l command ''
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch (string trim -- "$command $word")
${cases.join("\n")}
    end
  end
  test "$command" = "$argv"
end
${lines.join("\n")}
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
