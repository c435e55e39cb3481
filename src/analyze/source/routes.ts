/** Registrations of handlers: Express, Fastify, Koa, Hono (`app.post('/payments', handler)`), tRPC procedures. */
import type ts from 'typescript';
import { type Abstract, type FunctionValue, unknown } from './abstract-value.ts';
import { functionsIn } from './run-sometime.ts';
import { outsideMethod, type OutsideCall } from './called-name.ts';
import type { FoundUnit, Machine } from './machine.ts';
import { noteMiddleware, symbolOf } from './middleware.ts';
import { nameOf } from './transactions.ts';
import { constantOf } from './value-arithmetic.ts';

const verbs = /^(?:get|post|put|patch|delete|head|options|all)$/;

/** What the registration gives; `undefined` where the call is none. */
export const routesOf: OutsideCall = (machine, callee, args, at) => {
  const called = outsideMethod(machine, callee, at);
  if (called === undefined) return undefined;
  noteMiddleware(machine, callee, args, at);
  const { method } = called;
  const functions = args.flatMap((arg) => functionsIn(arg)).filter(({ node }) => node.parameters.length < 4);
  const gives = callee.kind === 'external' ? { ...callee, path: callee.path.slice(0, -1) } : unknown('a router');
  const path = constantOf(args[0]);
  if (verbs.test(method) && functions.length > 0) {
    const route = typeof path === 'string' ? path : routePath(machine, called.receiver);
    if (route === undefined || !(/^[/*]/.test(route) || isRouter(callee))) return undefined;
    const router = symbolOf(machine, called.receiver);
    const after = machine.middleware.length;
    found(machine, `${method.toUpperCase()} ${route}`, functions, at, { router, path: route, after });
    return gives;
  }
  // Hono with OpenAPI: `router.openapi(createRoute({ ... }), handler)`.
  const [handler] = method === 'openapi' ? functions : [];
  if (handler !== undefined) {
    found(machine, nameOf(handler.node, machine.project.ts) ?? 'a route', [handler], at);
    return gives;
  }
  if (method === 'route' && args[0]?.kind === 'object')
    return fullRoute(machine, args[0], at, called.receiver) ? gives : undefined;
  if (/^(?:mutation|query|subscription)$/.test(method) && functions.length === 1 && args.length === 1) {
    // What it was built with runs before: `publicProcedure.use(async ({ ctx, next }) => ...)`.
    const before = callee.kind === 'external' ? (callee.made ?? []) : [];
    found(machine, procedureName(machine, at), [...before, ...functions], at);
    return gives;
  }
  return undefined;
};

/** Of a web framework: also a path without a slash is a route. */
function isRouter(callee: Abstract): boolean {
  return callee.kind === 'external' && /(?:^|[/-])(?:router|express|fastify|hono)$/.test(callee.module);
}

function found(
  machine: Machine,
  name: string,
  functions: readonly FunctionValue[],
  node: ts.Node,
  route?: FoundUnit['route'],
): void {
  machine.found({ name, node, functions, kind: 'route', ...(route === undefined ? {} : { route }) });
}

/** `router.route('/payments').post(handler)`. */
function routePath(machine: Machine, node: ts.Expression): string | undefined {
  const { ts } = machine.project;
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const [path] = node.arguments;
  if (node.expression.name.text === 'route' && path !== undefined && ts.isStringLiteralLike(path)) return path.text;
  return routePath(machine, node.expression.expression);
}

/** Fastify's `route({ method, url, handler })`. */
function fullRoute(
  machine: Machine,
  object: Abstract & { readonly kind: 'object' },
  at: ts.Node,
  receiver: ts.Expression,
): boolean {
  const [method, url] = ['method', 'url'].map((name) => constantOf(object.properties.get(name)?.value));
  const handler = object.properties.get('handler')?.value;
  const hooks = ['onRequest', 'preParsing', 'preValidation', 'preHandler'].map(
    (name) => object.properties.get(name)?.value,
  );
  const functions =
    handler === undefined ? [] : [...hooks, handler].flatMap((one) => (one === undefined ? [] : functionsIn(one)));
  if (typeof url !== 'string' || functions.length === 0) return false;
  const router = symbolOf(machine, receiver);
  const route = { router, path: url, after: machine.middleware.length };
  found(machine, `${typeof method === 'string' ? method : 'ANY'} ${url}`, functions, at, route);
  return true;
}

function procedureName(machine: Machine, at: ts.Node): string {
  const { ts } = machine.project;
  for (let node = at; !ts.isSourceFile(node); node = node.parent) {
    if (ts.isPropertyAssignment(node)) return node.name.getText();
    if (ts.isVariableDeclaration(node)) return node.name.getText();
  }
  return 'procedure';
}
