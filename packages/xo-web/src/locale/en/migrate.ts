export const migrate = {};
