export const vm = {};
