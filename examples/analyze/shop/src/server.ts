/** The eight endpoints, over node:http: `POST /orders?customer=1&product=2&quantity=3`. */
import { createServer, type Server } from 'node:http';
import { pay, redeem } from './customers.ts';
import { listOrders, placeOrder, restock, showProduct } from './orders.ts';
import { recordSale, report } from './reports.ts';

type Query = Readonly<Record<string, number>>;

const routes: Readonly<Record<string, (query: Query) => Promise<unknown>>> = {
  'GET /products': ({ id = 0 }) => showProduct(id),
  'POST /products': ({ id = 0, quantity = 0 }) => restock(id, quantity),
  'GET /orders': ({ customer = 0 }) => listOrders(customer),
  'POST /orders': ({ customer = 0, product = 0, quantity = 0 }) => placeOrder(customer, product, quantity),
  'POST /payments': ({ customer = 0, amount = 0 }) => pay(customer, amount),
  'POST /points': ({ customer = 0, amount = 0 }) => redeem(customer, amount),
  'POST /sales': ({ day = 0, amount = 0 }) => recordSale(day, amount),
  'GET /report': ({ day = 0 }) => report(day),
};

export function startShop(port: number): Server {
  const server = createServer((request, response) => {
    void answer(`${request.method}`, request.url ?? '/').then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? null)),
    );
  });
  return server.listen(port);
}

async function answer(method: string, url: string): Promise<readonly [status: number, body: unknown]> {
  const { pathname, searchParams } = new URL(url, 'http://shop.test');
  const run = routes[`${method} ${pathname}`];
  if (run === undefined) return [404, null];
  try {
    return [200, await run(Object.fromEntries([...searchParams].map(([name, value]) => [name, Number(value)])))];
  } catch (error) {
    return [409, error instanceof Error ? error.message : null];
  }
}
