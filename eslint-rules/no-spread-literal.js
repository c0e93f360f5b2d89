/** `{ a, ...{ b } }` is `{ a, b }`: written so only to keep properties on one line. */
export default {
  meta: {
    type: "suggestion",
    schema: [],
    messages: { spread: "Write the properties into the literal itself." },
  },
  create: (context) => ({
    "ObjectExpression > SpreadElement > ObjectExpression"(node) {
      context.report({ node, messageId: "spread" });
    },
  }),
};
