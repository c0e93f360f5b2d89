import type { Command, Option } from "commander";

export type Shell = "bash" | "zsh" | "fish";

/** Commands whose argument is an object type. */
const TYPED = new Set(["list", "watch"]);

/** A completion and its description. */
interface Word {
  readonly text: string;
  readonly about: string;
}

interface Place {
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
  const places = toPlaces(program, types);
  switch (shell) {
    case "bash":
      return toBash(places);
    case "zsh":
      return toZsh(places);
    case "fish":
      return toFish(places);
  }
}

function toPlaces(program: Command, types: readonly string[]): Place[] {
  const globals = program.options.map(toWord);
  const walk = (command: Command, path: string): Place[] => [
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
  const places = TYPED.has(command.name()) ? types : choices;
  const others = places.map((text) => ({ text, about: "" }));
  return [...commands, ...others, ...options];
}

function toWord({ long, short, description }: Option): Word {
  return { text: long ?? short ?? "", about: description };
}

/** The script finds the command path by the typed words, ignoring options. */
function toBash(places: readonly Place[]): string {
  const cases = places.map(
    ({ path, words }) =>
      `    ${quote(path)}) words=${quote(words.map(({ text }) => text).join(" "))} ;;`,
  );
  return `# xo-cli completion for bash
_xo_cli() {
  local current=\${COMP_WORDS[COMP_CWORD]} place= words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${place:+$place }$word" in
${places
  .filter(({ path }) => path !== "")
  .map(({ path }) => `      ${quote(path)}) place=${quote(path)} ;;`)
  .join("\n")}
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _xo_cli xo-cli
`;
}

function toZsh(places: readonly Place[]): string {
  const cases = places.map(({ path, words }) => {
    const descriptions = words.map(({ text, about }) =>
      quote(`${text.replaceAll(":", "\\:")}:${about}`),
    );
    return `    ${quote(path)}) options=(${descriptions.join(" ")}) ;;`;
  });
  return `#compdef xo-cli
_xo_cli() {
  local place= word
  local -a options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
${places
  .filter(({ path }) => path !== "")
  .map(({ path }) => `      ${quote(path)}) place=${quote(path)} ;;`)
  .join("\n")}
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  _describe xo-cli options || _files
}
if [ "$funcstack[1]" = "_xo-cli" ]; then _xo_cli "$@"; else compdef _xo_cli xo-cli; fi
`;
}

function toFish(places: readonly Place[]): string {
  const cases = places
    .filter(({ path }) => path !== "")
    .map(({ path }) => `      case ${quote(path)}; set place ${quote(path)}`);
  const lines = places.flatMap(({ path, words }) =>
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
  set -l place ''
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch (string trim -- "$place $word")
${cases.join("\n")}
    end
  end
  test "$place" = "$argv"
end
${lines.join("\n")}
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
