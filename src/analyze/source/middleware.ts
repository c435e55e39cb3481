/**
 * Middleware: functions that an application or a router runs before the handlers of its routes. Which routers are mounted where is known where the sources
 * name them; otherwise it may run before any.
 */
import type ts from 'typescript';
import type { Abstract, FunctionValue } from './abstract-value.ts';
import { outsideMethod } from './called-name.ts';
import type { FoundUnit, Machine } from './machine.ts';
import { functionsIn } from './run-sometime.ts';
import { constantOf } from './value-arithmetic.ts';

/** `app.use(path, fn)`, `app.addHook('preHandler', fn)`. */
export function noteMiddleware(machine: Machine, callee: Abstract, args: readonly Abstract[], at: ts.Node): void {
  const called = outsideMethod(machine, callee, at);
  if (called === undefined || !machine.isSetup || !/^(?:use|addHook|param)$/.test(called.method)) return;
  if (callee.kind === 'external' && !frameworks.test(callee.module)) return;
  const first = constantOf(args[0]);
  if (
    called.method === 'addHook' &&
    !/^(?:on|pre)(?!Send|Response|Serialization|Close|Error|Timeout)/.test(String(first))
  )
    return;
  const router = symbolOf(machine, called.receiver);
  // A function of four parameters handles errors, but of `app.param('id', (req, res, next, id) => ...)`.
  const most = called.method === 'param' ? 5 : 3;
  const functions = args.flatMap((arg) => functionsIn(arg)).filter(({ node }) => node.parameters.length <= most);
  const path = called.method === 'use' && typeof first === 'string' ? first : null;
  const isOfRouter = callee.kind === 'external' && (callee.path.includes('Router') || /router/.test(callee.module));
  if (functions.length > 0) machine.middleware.push({ functions, router, isOfRouter, path });
  for (const [index, arg] of called.call.arguments.entries())
    if (args[index]?.kind !== 'function' && constantOf(args[index]) === undefined)
      machine.mounts.push([router, symbolOf(machine, arg)]);
}

const frameworks = /(?:^|[/-])(?:router|express|fastify|hono|koa)$/;

/** What stands for a router: a variable, through imports, or a property. */
export function symbolOf(machine: Machine, node: ts.Expression): ts.Symbol | undefined {
  const { ts, checker } = machine.project;
  if (ts.isCallExpression(node)) return symbolOf(machine, node.expression);
  if (ts.isPropertyAccessExpression(node)) {
    const isOwn = node.expression.kind === ts.SyntaxKind.ThisKeyword;
    return isOwn ? checker.getSymbolAtLocation(node.name) : symbolOf(machine, node.expression);
  }
  if (!ts.isIdentifier(node)) return undefined;
  let symbol = checker.getSymbolAtLocation(node);
  if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0) symbol = checker.getAliasedSymbol(symbol);
  const [declaration] = symbol?.declarations ?? [];
  const isDefault = declaration !== undefined && ts.isExportAssignment(declaration);
  return isDefault ? symbolOf(machine, declaration.expression) : symbol;
}

/** Those that may run before the handlers of a route, in the order in which they were registered. */
export function middlewareBefore(machine: Machine, { route }: FoundUnit): readonly FunctionValue[] {
  if (route === undefined) return [];
  return machine.middleware.flatMap((one, order) => {
    const isSame = one.router !== undefined && one.router === route.router;
    const mayRun = isSame
      ? order < route.after && isBelow(route.path, one.path)
      : !one.isOfRouter || isMounted(machine, one.router, route.router);
    return mayRun ? one.functions : [];
  });
}

/** May the route begin with the path? */
function isBelow(route: string, path: string | null): boolean {
  const parts = (text: string): readonly string[] => text.split('/').filter((part) => part !== '');
  const isOpen = (part: string | undefined): boolean => part === undefined || /^[:*{(]|\*/.test(part);
  const of = parts(route);
  return parts(path ?? '').every((part, at) => part === of[at] || isOpen(part) || isOpen(of[at]));
}

function isMounted(machine: Machine, parent: ts.Symbol | undefined, child: ts.Symbol | undefined): boolean {
  const seen = new Set<ts.Symbol | undefined>();
  const reaches = (from: ts.Symbol | undefined): boolean => {
    if (from === undefined || from === child) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return machine.mounts.some(([above, below]) => above === from && reaches(below));
  };
  return child === undefined || reaches(parent);
}
