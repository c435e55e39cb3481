/** All functions of PostgreSQL that are here: tables by area. */
import { arraySignatures } from './array-functions.ts';
import { jsonFunctions } from './json-functions.ts';
import { mathFunctions } from './math-functions.ts';
import { numberOperators } from './operators-number.ts';
import { sessionFunctions } from './session-functions.ts';
import { tableOf } from './signature.ts';
import { textFunctions } from './text-functions.ts';
import { textOperators } from './text-operators.ts';
import { timeFunctions } from './time-functions.ts';

export const functionTable = tableOf([
  ...numberOperators,
  ...textOperators,
  ...arraySignatures,
  ...mathFunctions,
  ...textFunctions,
  ...timeFunctions,
  ...jsonFunctions,
  ...sessionFunctions,
]);
