import ts from "typescript";

export interface Instrumented {
  readonly code: string;
  /** Number of counted places. */
  readonly places: number;
}

/**
 * JavaScript that counts how often each of its branches runs: functions,
 * branches of if, loops, cases, catch, `?:`, `&&`, `||`, `??`.
 * @param runtime URL of the module that has `register`
 */
export function instrument(
  source: string,
  file: string,
  runtime: string,
): Instrumented {
  const counter = new BranchCounter();
  const parsed = ts.createSourceFile(
    file,
    source,
    ts.ScriptTarget.ES2023,
    true,
    ts.ScriptKind.JS,
  );
  const { transformed } = ts.transform(parsed, [counter.transform]);
  const body = ts.createPrinter().printFile(transformed[0]!);
  const words = JSON.stringify([...counter.words]);
  const head = `import { register as __register } from ${JSON.stringify(runtime)};\nconst __c = __register(${counter.places}, ${words});\n`;
  return { code: head + body, places: counter.places };
}

const { factory } = ts;
/** Lengths of literals that are offered to the mutator. */
const MIN_WORD = 2;
const MAX_WORD = 40;
const LOGICAL = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

class BranchCounter {
  places = 0;
  /** Literals of the source: what a parser compares with. */
  readonly words = new Set<string>();

  readonly transform: ts.TransformerFactory<ts.SourceFile> = (context) => {
    const visit = (node: ts.Node): ts.Node => {
      if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
        return node;
      this.#collect(node);
      return this.#count(ts.visitEachChild(node, visit, context));
    };
    return (file) => ts.visitEachChild(file, visit, context);
  };

  #collect(node: ts.Node): void {
    if (!ts.isStringLiteralLike(node)) return;
    const { text } = node;
    if (text.length >= MIN_WORD && text.length <= MAX_WORD)
      this.words.add(text);
  }

  #count(node: ts.Node): ts.Node {
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body))
      return factory.updateArrowFunction(
        node,
        node.modifiers,
        node.typeParameters,
        node.parameters,
        node.type,
        node.equalsGreaterThanToken,
        this.#counted(node.body),
      );
    if (ts.isBlock(node) && isCounted(node))
      return factory.updateBlock(node, this.#begin(node.statements));
    if (ts.isCaseClause(node))
      return factory.updateCaseClause(
        node,
        node.expression,
        this.#begin(node.statements),
      );
    if (ts.isDefaultClause(node))
      return factory.updateDefaultClause(node, this.#begin(node.statements));
    if (ts.isIfStatement(node))
      return factory.updateIfStatement(
        node,
        node.expression,
        this.#branch(node.thenStatement),
        node.elseStatement && this.#branch(node.elseStatement),
      );
    if (ts.isConditionalExpression(node))
      return factory.updateConditionalExpression(
        node,
        node.condition,
        node.questionToken,
        this.#counted(node.whenTrue),
        node.colonToken,
        this.#counted(node.whenFalse),
      );
    if (ts.isBinaryExpression(node) && LOGICAL.has(node.operatorToken.kind))
      return factory.updateBinaryExpression(
        node,
        node.left,
        node.operatorToken,
        this.#counted(node.right),
      );
    return node;
  }

  #branch(statement: ts.Statement): ts.Statement {
    return ts.isBlock(statement)
      ? statement
      : factory.createBlock([this.#statement(), statement]);
  }

  /** A directive such as "use strict" has to stay first; super() may. */
  #begin(statements: readonly ts.Statement[]): ts.Statement[] {
    return [this.#statement(), ...statements];
  }

  #statement(): ts.Statement {
    return factory.createExpressionStatement(this.#increment());
  }

  #counted(expression: ts.Expression): ts.Expression {
    return factory.createParenthesizedExpression(
      factory.createComma(this.#increment(), expression),
    );
  }

  #increment(): ts.Expression {
    const place = factory.createNumericLiteral(this.places++);
    const element = factory.createElementAccessExpression(
      factory.createIdentifier("__c"),
      place,
    );
    return factory.createPostfixIncrement(element);
  }
}

/** Blocks that run only sometimes; others run with the statement before. */
function isCounted(block: ts.Block): boolean {
  const parent = ts.getOriginalNode(block).parent as ts.Node | undefined;
  return parent === undefined || !ts.isBlock(parent);
}
