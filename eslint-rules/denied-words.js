import { readFileSync } from "node:fs";

/**
 * Words and phrases, each with what to write in its place; see docs/glossary.md. Words under
 * `remaining` are still used in places, and become enforced when they are not; those under
 * `confined` are names in some packages only.
 */
const { enforced, confined, phrases } = JSON.parse(
  readFileSync(new URL("../docs/denied-words.json", import.meta.url), "utf8"),
);
const denied = new Map(Object.entries(enforced));
/** Phrases that stand for an amount, and not those before a clause with "that". */
const patterns = Object.entries(phrases).map(([phrase, instead]) => ({
  instead,
  pattern: new RegExp(`\\b${phrase}\\b(?![^.,:;]*\\bthat\\b)`, "gi"),
}));

/**
 * Finds denied words and phrases in prose, and words in an identifier (`camelCase` and
 * `snake_case` are split), in singular and plural.
 * @param {string} text
 * @returns {{ word: string, instead: string, index: number }[]}
 */
export function findDeniedWords(text) {
  const found = [];
  for (const { 0: part, index } of text.matchAll(/[A-Z]?[a-z]+/g)) {
    const word = part.toLowerCase();
    const instead = [word, word.replace(/s$/, ""), word.replace(/es$/, "")]
      .map((form) => denied.get(form))
      .find((one) => one !== undefined);
    if (instead !== undefined) found.push({ word, instead, index });
  }
  for (const { pattern, instead } of patterns)
    for (const { 0: word, index } of text.matchAll(pattern))
      found.push({ word, instead, index });
  return found;
}

/** Keeps words that docs/glossary.md rules out from identifiers, comments and strings. */
const rule = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: {
      denied: '"{{word}}" is not used here (docs/glossary.md): {{instead}}',
    },
  },
  create(context) {
    const report = (text, target) => {
      for (const { word, instead } of findDeniedWords(text))
        context.report({
          ...target,
          messageId: "denied",
          data: { word, instead },
        });
    };
    const own = packageOf(context.filename);
    const outside = Object.entries(confined).filter(
      ([, { packages }]) => own !== undefined && !packages.includes(own),
    );
    const declared = (node) => {
      if (node?.type !== "Identifier" && node?.type !== "PrivateIdentifier")
        return;
      report(node.name, { node });
      for (const [word, { instead }] of outside)
        if (isNamedBy(node.name, word))
          context.report({
            node,
            messageId: "denied",
            data: { word, instead },
          });
    };
    const script = {
      Program() {
        for (const comment of context.sourceCode.getAllComments())
          report(comment.value, { loc: comment.loc });
      },
      Literal(node) {
        if (typeof node.value === "string" && !isImport(node))
          report(node.value, { node });
      },
      TemplateElement: (node) => report(node.value.raw, { node }),
      "VariableDeclarator, FunctionDeclaration, ClassDeclaration, TSInterfaceDeclaration, TSTypeAliasDeclaration":
        (node) => declared(node.id),
      "PropertyDefinition, MethodDefinition, TSPropertySignature, TSMethodSignature, Property":
        (node) => {
          if (!node.computed && !node.shorthand) declared(node.key);
        },
    };
    const { defineTemplateBodyVisitor } = context.sourceCode.parserServices;
    if (defineTemplateBodyVisitor === undefined) return script;
    // A component: texts and names in its template, and strings in its expressions.
    const { Literal, TemplateElement } = script;
    const template = {
      Literal,
      TemplateElement,
      VText: (node) => report(node.value, { node }),
      VLiteral: (node) => report(node.value, { node }),
      VIdentifier: (node) => report(node.rawName, { node }),
      "VElement[name='template']:exit"(node) {
        for (const comment of node.comments ?? [])
          report(comment.value, { loc: comment.loc });
      },
    };
    return defineTemplateBodyVisitor(template, script);
  },
};

/** Not for constants in capitals, such as the epoch of a file format. */
function isNamedBy(name, word) {
  return name !== name.toUpperCase() && name.toLowerCase().includes(word);
}

/** Name of the folder in packages/; undefined: the file is in none. */
function packageOf(filename) {
  return /[\\/]packages[\\/]([^\\/]+)/.exec(filename)?.[1];
}

function isImport(node) {
  return /^(Import|Export)/.test(node.parent?.type ?? "");
}

export default rule;
