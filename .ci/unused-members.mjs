// Names the public members of classes that nothing but tests uses. knip does the same for exports (knip-without-tests.mjs).
//
// A member counts as used if its declaration, or that of the interface or class that it implements, is referred to outside of tests. Classes
// need not say which interfaces they satisfy: what matters is whether they do. Classes that the package exports are for others to use.

import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Benchmarks may use what tests have. */
const TESTS = resolve(ROOT, 'test');

/** What package.json exports. */
const ENTRIES = ['plugin/index.ts', 'lib/merchant/orders/index.ts'];

/** Members that libraries call, and what tests have to observe, since nothing else shows it. */
const KEPT = {
  'ElectrumService.sessions': 'when a client has been let go',
  'ElectrumService.addresses': 'the ports that the system has chosen',
  'WaitingReads.size': 'that a request waits'
};

const config = ts.getParsedCommandLineOfConfigFile(
  resolve(ROOT, 'tsconfig.json'),
  { noEmit: true },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail }
);
const bench = ts.sys.readDirectory(resolve(ROOT, 'bench'), ['.ts'], ['**/data/**']);
const program = ts.createProgram([...config.fileNames, ...bench], config.options);
const checker = program.getTypeChecker();
const files = program
  .getSourceFiles()
  .filter(({ fileName, isDeclarationFile }) => fileName.startsWith(ROOT) && !fileName.startsWith(TESTS) && !isDeclarationFile);

/** Declarations of members that are referred to. */
const used = new Set();
/** Of these, the ones in interfaces and type literals, by name. */
const usedInTypes = new Map();

function use(symbol) {
  for (const declaration of symbol?.declarations ?? []) {
    if (used.has(declaration)) continue;
    used.add(declaration);
    if (!ts.isClassLike(declaration.parent)) usedInTypes.set(symbol.name, [...(usedInTypes.get(symbol.name) ?? []), declaration.parent]);
  }
}

function visit(node) {
  if (ts.isPropertyAccessExpression(node)) use(checker.getSymbolAtLocation(node.name));
  else if (ts.isObjectBindingPattern(node)) {
    const type = checker.getTypeAtLocation(node);
    for (const { name, propertyName = name } of node.elements) use(type.getProperty(propertyName.getText()));
  } else if (ts.isSpreadAssignment(node)) for (const property of checker.getTypeAtLocation(node.expression).getProperties()) use(property);
  ts.forEachChild(node, visit);
}

files.forEach(visit);

const exported = new Set(
  ENTRIES.flatMap((entry) => {
    const file = program.getSourceFile(resolve(ROOT, entry));
    const symbols = file === undefined ? [] : checker.getExportsOfModule(checker.getSymbolAtLocation(file));
    return symbols.flatMap(
      (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol).declarations ?? []
    );
  })
);

/** Classes, each with those that extend it. */
const heirs = new Map();

function learnHeirs(node) {
  for (const { types, token } of (ts.isClassLike(node) && node.heritageClauses) || [])
    if (token === ts.SyntaxKind.ExtendsKeyword)
      for (const base of checker.getTypeAtLocation(types[0]).symbol?.declarations ?? [])
        heirs.set(base, [...(heirs.get(base) ?? []), node]);
  ts.forEachChild(node, learnHeirs);
}

files.forEach(learnHeirs);

/** Whether the class, or one that extends it, satisfies a type through which a member of that name is used. */
function satisfies(owner, name) {
  const type = checker.getTypeAtLocation(owner);
  const types = usedInTypes.get(name) ?? [];
  return (
    types.some((one) => checker.isTypeAssignableTo(type, checker.getTypeAtLocation(one))) ||
    (heirs.get(owner) ?? []).some((heir) => satisfies(heir, name))
  );
}

/** Whether the member overrides one that is used, or one of a library. */
function overrides(owner, name) {
  return (owner.heritageClauses ?? [])
    .flatMap(({ types }) => types)
    .some((type) => {
      const declarations = checker.getTypeAtLocation(type).getProperty(name)?.declarations ?? [];
      return declarations.some(
        (one) => used.has(one) || one.getSourceFile().isDeclarationFile || (ts.isClassLike(one.parent) && overrides(one.parent, name))
      );
    });
}

function membersOf(node) {
  const own = ts.isClassDeclaration(node) && !exported.has(node) ? node.members.filter(isUnused) : [];
  const inside = [];
  ts.forEachChild(node, (child) => void inside.push(...membersOf(child)));
  return [...own, ...inside];
}

function isUnused(member) {
  const { name } = member;
  if (name === undefined || ts.isPrivateIdentifier(name) || !ts.isIdentifier(name)) return false;
  if (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) return false;
  return !used.has(member) && !satisfies(member.parent, name.text) && !overrides(member.parent, name.text);
}

const unused = new Map(
  files
    .filter(({ fileName }) => !fileName.startsWith(resolve(ROOT, 'bench')))
    .flatMap((file) =>
      membersOf(file).map((member) => {
        const { line } = file.getLineAndCharacterOfPosition(member.name.getStart());
        return [`${member.parent.name?.text ?? ''}.${member.name.text}`, `${relative(ROOT, file.fileName)}:${line + 1}`];
      })
    )
);
const wrong = [
  ...[...unused].flatMap(([name, place]) => (name in KEPT ? [] : [`${place}  ${name} is used by tests alone, or not at all`])),
  ...Object.keys(KEPT).flatMap((name) =>
    unused.has(name) ? [] : [`${name} need not be in the list of ${relative(ROOT, import.meta.filename)}`]
  )
];
for (const text of wrong) console.error(text);
process.exitCode = wrong.length > 0 ? 1 : 0;

function fail(diagnostic) {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
}
