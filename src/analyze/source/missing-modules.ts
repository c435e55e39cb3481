/**
 * Modules of the application itself that were not given: `../db` above the folder, `@acme/db` where one package of a workspace is read. What their
 * functions do, nothing says; a call of one that may reach the database is listed, so that its unit does not vanish.
 */
import { isBuiltin } from 'node:module';
import type ts from 'typescript';
import type { Abstract, External } from './abstract-value.ts';
import { drivers } from './drivers/index.ts';
import { isOutside } from './drivers/opaque-handle.ts';
import { namesHandle } from './handle-name.ts';
import { modulesOf } from './imported-modules.ts';
import type { Machine } from './machine.ts';
import { externalAlias } from './names.ts';
import type { Project } from './project.ts';
import { isSqlText, writtenText } from './sql-text.ts';

/** Why code that awaits `value` is not understood; `undefined`: it reaches no database, as far as names and uses say. */
export function unreadCall(machine: Machine, { module, path, isListed }: External, at: ts.Node): string | undefined {
  const names = path.filter((part) => part !== '()' && part !== 'default');
  const last = names.at(-1);
  if (isListed === true || last === undefined || !path.includes('()') || opens.test(last) || isClass(last))
    return undefined;
  if (!isMissing(machine, module)) return undefined;
  const uses = usesOf(machine);
  const mayReach =
    namesDatabase(module) ||
    uses.modules.has(module) ||
    (isLocal(module) && machine.project.ts.isAwaitExpression(at) && uses.files.has(at.getSourceFile()));
  return mayReach ? `the module ${module} is not in the sources: what ${names.join('.')} does is not read` : undefined;
}

/** Is an argument from outside a handle, by what the sources do with it elsewhere or, for a function of such a module, by its name? */
export function passesHandle(machine: Machine, callee: Abstract, args: readonly Abstract[], at: ts.Node): boolean {
  const { ts, checker } = machine.project;
  if (!ts.isCallExpression(at) && !ts.isNewExpression(at)) return false;
  const { symbols } = usesOf(machine);
  const isOfMissing = callee.kind === 'external' && isMissing(machine, callee.module);
  return (at.arguments ?? []).some((argument, index) => {
    const value = args[index];
    if (value === undefined || !isOutside(value) || !ts.isIdentifier(argument)) return false;
    const symbol = checker.getSymbolAtLocation(argument);
    return (symbol !== undefined && symbols.has(symbol)) || (isOfMissing && namesHandle.test(argument.text));
  });
}

function isMissing({ project }: Machine, module: string): boolean {
  return project.isOwn(module) && !isBuiltin(module) && !drivers.isDriver(module);
}

/** They give a handle, or end one. */
const opens =
  /^(?:connect|release|end|close|destroy|disconnect|\$connect|\$disconnect|on|once|off|acquire|init|initialize|setup|open|(?:get|create|make|open|close|use|init|initialize|setup|connect)\w*(?:pool|db|database|connection|datasource|prisma|knex|kysely|sequelize|drizzle|orm))$/i;

const databaseWords =
  /^(?:db|dbs|database|databases|sql|pg|postgres|postgresql|mysql|mariadb|prisma|knex|kysely|drizzle|sequelize|typeorm|repository|repositories|dao|daos|models?|entities|persistence|queries)$/i;

/** `new BlockMap()`: its methods are calls of their own. */
function isClass(name: string): boolean {
  return /^[A-Z]/.test(name);
}

function namesDatabase(module: string): boolean {
  return module.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).some((word) => databaseWords.test(word));
}

/** Not of another package, nor built or generated. */
function isLocal(module: string): boolean {
  return /^(?:\.|\/|#|[@~]\/)/.test(module) && !/(?:^|\/)(?:dist|build|gen|__generated__)(?:\/|$)/.test(module);
}

/** What the sources use as a handle, as it is written. */
interface HandleUses {
  readonly symbols: ReadonlySet<ts.Symbol>;
  /** From which such a handle is imported, or made. */
  readonly modules: ReadonlySet<string>;
  readonly files: ReadonlySet<ts.SourceFile>;
}

const known = new WeakMap<Project, HandleUses>();

function usesOf(machine: Machine): HandleUses {
  const { project } = machine;
  const before = known.get(project);
  if (before !== undefined) return before;
  const { ts, checker, files } = project;
  const uses = { symbols: new Set<ts.Symbol>(), modules: new Set<string>(), files: new Set<ts.SourceFile>() };
  known.set(project, uses);
  const visit = (node: ts.Node): void => {
    const handle = ts.isCallExpression(node) ? handleOfCall(project, node) : undefined;
    if (handle !== undefined) {
      uses.files.add(node.getSourceFile());
      const symbol = ts.isIdentifier(handle) ? checker.getSymbolAtLocation(handle) : undefined;
      if (symbol !== undefined) uses.symbols.add(symbol);
      const module = moduleBehind(machine, handle, 4);
      if (module !== undefined) uses.modules.add(module);
    }
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  return uses;
}

/** `client` of `client.query('BEGIN')`, `db` of `db('items')` and `db.selectFrom('items')`. */
function handleOfCall(project: Project, node: ts.CallExpression): ts.Expression | undefined {
  const { ts } = project;
  const { expression: callee } = node;
  const [first] = node.arguments;
  const text =
    first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))
      ? writtenText(ts, first)
      : undefined;
  const isMethod = ts.isPropertyAccessExpression(callee);
  const runsText = isMethod && /^(?:query|execute|unsafe)$/i.test(callee.name.text) && isSqlText(text ?? '');
  if (!runsText && drivers.byUse(ts, node, text, modulesOf(project)) === undefined) return undefined;
  return isMethod ? callee.expression : callee;
}

/** The module outside the sources from which an expression comes, also through variables: `const client = await pool.connect()`. */
function moduleBehind(machine: Machine, start: ts.Expression, depth: number): string | undefined {
  const { ts, checker } = machine.project;
  let node = start;
  while (!ts.isIdentifier(node)) {
    if (!ts.isPropertyAccessExpression(node) && !ts.isCallExpression(node) && !ts.isAwaitExpression(node))
      return undefined;
    node = node.expression;
  }
  const symbol = checker.getSymbolAtLocation(node);
  if (symbol === undefined) return undefined;
  const outside = externalAlias(machine, symbol);
  if (outside !== undefined) return outside.module;
  const declaration = symbol.valueDeclaration;
  return declaration !== undefined &&
    ts.isVariableDeclaration(declaration) &&
    declaration.initializer !== undefined &&
    depth > 0
    ? moduleBehind(machine, declaration.initializer, depth - 1)
    : undefined;
}
