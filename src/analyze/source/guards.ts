/** Guards, interceptors and pipes of NestJS that are classes of the sources: they run before the methods of a controller. */
import type ts from 'typescript';
import type { Abstract, FunctionValue } from './abstract-value.ts';
import { classMember, injectedInstance } from './calls.ts';
import type { Machine } from './machine.ts';
import type { Project } from './project.ts';

/** Those of the whole application, of the controller and of the method. */
export function guardsOf(
  machine: Machine,
  owner: ts.ClassLikeDeclaration,
  method: ts.MethodDeclaration,
): readonly FunctionValue[] {
  const { ts } = machine.project;
  const named = [owner, method].flatMap((node) =>
    (ts.getDecorators(node) ?? []).flatMap(({ expression }) => {
      const isUse =
        ts.isCallExpression(expression) && /^Use(?:Guards|Interceptors|Pipes)$/.test(expression.expression.getText());
      return isUse ? [...expression.arguments] : [];
    }),
  );
  return [...globalGuards(machine.project), ...named].flatMap((node) => {
    const value = machine.evaluate(node, machine.globals.scope);
    const instance: Abstract = value.kind === 'class' ? injectedInstance(machine, value, node) : value;
    if (instance.kind !== 'object' || instance.of === null) return [];
    const { of: type } = instance;
    return ['canActivate', 'intercept', 'transform'].flatMap((name) => {
      const found = classMember(machine, type, name, instance, false, node);
      return found?.kind === 'function' ? [found] : [];
    });
  });
}

const known = new WeakMap<Project, readonly ts.Expression[]>();

/** `{ provide: APP_GUARD, useClass: Loaded }`, `app.useGlobalGuards(new Loaded())`. */
function globalGuards(project: Project): readonly ts.Expression[] {
  const before = known.get(project);
  if (before !== undefined) return before;
  const { ts } = project;
  const found: ts.Expression[] = [];
  const valueOf = ({ properties }: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined =>
    properties.find((one): one is ts.PropertyAssignment => ts.isPropertyAssignment(one) && one.name.getText() === name)
      ?.initializer;
  const visit = (node: ts.Node): void => {
    if (
      ts.isObjectLiteralExpression(node) &&
      /^APP_(?:GUARD|INTERCEPTOR|PIPE)$/.test(valueOf(node, 'provide')?.getText() ?? '')
    ) {
      const type = valueOf(node, 'useClass') ?? valueOf(node, 'useValue');
      if (type !== undefined) found.push(type);
    }
    if (ts.isCallExpression(node) && /\.useGlobal(?:Guards|Interceptors|Pipes)$/.test(node.expression.getText()))
      found.push(...node.arguments);
    ts.forEachChild(node, visit);
  };
  project.files.forEach(visit);
  known.set(project, found);
  return found;
}
