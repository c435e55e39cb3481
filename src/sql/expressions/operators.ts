/** All operators of PostgreSQL that are here: tables by area. */
import { arraySignatures } from './array-functions.ts';
import { jsonOperators } from './json-operators.ts';
import { comparisonOperators } from './operators-compare.ts';
import { numberOperators } from './operators-number.ts';
import { tableOf } from './signature.ts';
import { textOperators } from './text-operators.ts';
import { timeOperators } from './time-operators.ts';

export const operatorTable = tableOf([
  ...comparisonOperators,
  ...numberOperators,
  ...textOperators,
  ...timeOperators,
  ...jsonOperators,
  ...arraySignatures,
]);
