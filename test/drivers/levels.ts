/** The levels of each engine at which every client is tested. */
export const isolations = {
  postgres: ['read committed', 'serializable'],
  mysql: ['repeatable read', 'serializable'],
} as const;
