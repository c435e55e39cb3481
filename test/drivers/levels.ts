/** The levels of each engine at which every client is tested. */
export const isolations = {
  postgres: ['read committed', 'repeatable read', 'serializable'],
  mysql: ['read committed', 'repeatable read', 'serializable'],
} as const;
