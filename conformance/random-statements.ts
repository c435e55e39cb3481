/** Random statements over the tables of a random schema, each with the name of its form. Keys are few, so that sessions meet. */
import type { Dialect } from '../src/sql/model/index.ts';
import type { Choices } from './choices.ts';
import { mysqlForms } from './random-mysql.ts';
import { postgresForms } from './random-postgres.ts';
import type { RandomSchema } from './random-schema.ts';
import { sharedForms } from './random-shared.ts';

export type Feature = 'advisory locks' | 'DDL' | 'table locks' | 'deferrable constraints';

/** One kind of statement. */
export interface Form {
  readonly name: string;
  readonly weight: number;
  /** Only some schedules have statements of this kind: they keep others from meeting. */
  readonly feature?: Feature;
  /** Are its rows in an order that is decided? */
  readonly isOrdered?: boolean;
  readonly sql: (choices: Choices, schema: RandomSchema) => string;
}

export const formsOf: Readonly<Record<Dialect, readonly Form[]>> = {
  postgres: [...sharedForms, ...postgresForms],
  mysql: [...sharedForms, ...mysqlForms],
};
