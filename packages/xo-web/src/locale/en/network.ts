export const network = {};
