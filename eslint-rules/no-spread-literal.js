/** `{ a, ...{ b } }` is `{ a, b }`, `[a, ...[b]]` is `[a, b]`: written so only to keep several on one line. */
export default {
  meta: {
    type: "suggestion",
    schema: [],
    messages: { spread: "Write it into the literal or the call itself." },
  },
  create: (context) => ({
    SpreadElement(node) {
      const { type } = literalOf(node.argument);
      const isObject =
        type === "ObjectExpression" && node.parent.type === "ObjectExpression";
      if (isObject || type === "ArrayExpression")
        context.report({ node, messageId: "spread" });
    },
  }),
};

/** What `literal as const` is about. */
function literalOf(expression) {
  return expression.type === "TSAsExpression"
    ? literalOf(expression.expression)
    : expression;
}
