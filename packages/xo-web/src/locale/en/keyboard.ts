export const keyboard = {};
