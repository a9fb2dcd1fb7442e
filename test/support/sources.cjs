// Lets Node run the sources directly: `node -r` this file. Threads and forked processes inherit it. Types are not checked here: every
// source is translated alone, and the result is kept in node_modules/.cache, since a suite starts hundreds of threads and processes with
// the same sources.

const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join, relative, resolve } = require('node:path');
const { isMainThread, threadId } = require('node:worker_threads');

const projectFolder = resolve(__dirname, '../..');
const cacheFolder = join(projectFolder, 'node_modules/.cache/bcoin-rest/sources');
const settingsFile = join(projectFolder, 'tsconfig.json');

/** Everything beside the source on which its translation depends. */
const settings = [__filename, settingsFile, require.resolve('typescript/package.json')].map((path) => readFileSync(path));

mkdirSync(cacheFolder, { recursive: true });
// Source maps for errors would take a quarter of the time in which a thread or a forked process starts.
if (isMainThread && process.send === undefined) process.setSourceMapsEnabled(true);

require.extensions['.ts'] = (module, path) => {
  module._compile(translated(path), path);
};

/** The source at a path as JavaScript: the kept translation if source and settings are the same, otherwise a new one. */
function translated(path) {
  const source = readFileSync(path);
  const key = [...settings, path, source].reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
  const kept = join(cacheFolder, relative(projectFolder, path).replaceAll(/[^a-z0-9.-]/gi, '_'));
  const text = readIfThere(kept);
  if (text?.endsWith(key)) return text;

  const made = `${translate(path, source.toString())}\n//${key}`;
  // Renamed into place, since other processes may read or write the same file at this moment.
  const unfinished = `${kept}-${process.pid}-${threadId}`;
  try {
    writeFileSync(unfinished, made);
    renameSync(unfinished, kept);
  } catch {
    // If the cache cannot be written, the source is translated each time.
    rmSync(unfinished, { force: true });
  }
  return made;
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function translate(path, source) {
  const ts = require('typescript');
  const { config } = ts.readConfigFile(settingsFile, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, projectFolder);
  const compilerOptions = { ...options, inlineSourceMap: true };
  const { outputText, diagnostics } = ts.transpileModule(source, { fileName: path, compilerOptions, reportDiagnostics: true });
  if (diagnostics.length > 0) {
    throw new SyntaxError(
      ts.formatDiagnostics(diagnostics, {
        getCurrentDirectory: () => projectFolder,
        getCanonicalFileName: (name) => name,
        getNewLine: () => '\n'
      })
    );
  }
  return outputText;
}
