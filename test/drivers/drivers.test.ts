/** Every client does the same on the engines' levels. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { drivers } from './drivers.ts';
import { type ServedHere, serve } from './served.ts';
import type { Shop } from './shop.ts';
import { steps } from './shop-steps.ts';

const isolations = { postgres: ['read committed', 'serializable'], mysql: ['repeatable read', 'serializable'] } as const;
const cases = drivers.flatMap((driver) => isolations[driver.dialect].map((isolation) => ({ driver, isolation })));

describe.each(cases)('$driver.name, $driver.dialect, $isolation', ({ driver, isolation }) => {
  let served: ServedHere;
  let shop: Shop;
  beforeAll(async () => {
    served = await serve({ engine: driver.dialect, isolation });
    shop = await driver.open(served);
  });
  afterAll(async () => {
    await shop.close();
    await served.close();
  });
  test.for(steps)('$name', async ({ run, applies }, { skip }) => {
    skip(applies?.(shop) === false, 'the client has none');
    await run(shop, served, driver);
  });
});
