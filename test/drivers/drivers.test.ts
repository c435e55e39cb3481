/** Every client does the same on the engines' levels. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drivers } from './drivers.ts';
import { isolations } from './levels.ts';
import { type ServedHere, serve } from './served.ts';
import type { Shop } from './shop.ts';
import { stepsOf } from './shop-steps.ts';

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
  test.each(stepsOf(driver))('$name', async ({ run }) => {
    await run(shop, served, driver);
    expect(served.bugs).toEqual([]);
  });
  test('nothing that it has is left out', () => {
    const missing = [shop.keepTables === undefined && 'tables kept', shop.prepared === undefined && 'prepared'];
    expect(missing.filter((name) => name !== false)).toEqual(driver.without ?? []);
  });
});
