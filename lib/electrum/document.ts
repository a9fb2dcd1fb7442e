// The methods as an OpenRPC document, which `rpc.discover` answers with.

import { DISCOVER, DISCOVER_SUMMARY, DOCUMENT, openRpcDocument, type MethodDescription } from '../describe/open-rpc';
import { anyOf, tuple, type Properties, type Schema } from '../describe/schema';
import { TEXT } from '../describe/values';
import { PROTOCOLS, type Method, type MethodTable } from './method';

const VERSION: Schema = { ...TEXT, pattern: '^\\d{1,4}(\\.\\d{1,4}){0,3}$', description: 'A version of the protocol.' };

/** The only method that is not in the table. */
const VERSION_METHOD: MethodDescription = {
  name: 'server.version',
  summary: 'Settles the version of the protocol. A client sends it once, first; without it the version is the lowest.',
  parameters: [
    { name: 'client_name', isRequired: false, schema: TEXT },
    {
      name: 'protocol_version',
      isRequired: false,
      schema: {
        ...anyOf(VERSION, tuple(VERSION, VERSION)),
        description: 'One version, or the lowest and the highest that the client knows.'
      }
    }
  ],
  result: {
    ...tuple({ ...TEXT, description: 'The software of the server.' }, VERSION),
    description: 'The server, and the version that is spoken.'
  }
};

/** The table and `rpc.discover`, which describes both. `version`: of this package. */
export function describedMethods(table: Readonly<Record<string, Method>>, version: string): MethodTable {
  let text: Buffer | undefined;
  const discover: Method = {
    about: { summary: DISCOVER_SUMMARY, parameters: [], result: DOCUMENT },
    parameters: [],
    required: 0,
    answer: () => (text ??= electrumDocument(all, version))
  };
  const all = { ...table, [DISCOVER]: discover };
  return all;
}

/** JSON text. */
function electrumDocument(table: Readonly<Record<string, Method>>, version: string): Buffer {
  const document = openRpcDocument({
    title: 'The Electrum protocol',
    description: `Versions ${PROTOCOLS.join(', ')}. Amounts are satoshis unless a description says otherwise.`,
    version,
    methods: [VERSION_METHOD, ...Object.entries(table).map(([name, method]) => descriptionOf(name, method))]
  });
  return Buffer.from(JSON.stringify(document));
}

function descriptionOf(name: string, { about, parameters, required, since, until }: Method): MethodDescription {
  const { summary, result, notification } = about;
  if (about.parameters.length !== parameters.length) throw new Error(`${name} has another number of parameters than are described`);
  const versions = [...(since === undefined ? [] : [`Since ${since}.`]), ...(until === undefined ? [] : [`Until ${until}.`])];
  return {
    name,
    summary,
    description: versions.length === 0 ? undefined : versions.join(' '),
    parameters: parameters.map((parameter, i) => ({ name: parameter, schema: about.parameters[i] ?? {}, isRequired: i < required })),
    result,
    notification: notification && parametersOf(notification)
  };
}

const parametersOf = (properties: Properties): MethodDescription['parameters'] =>
  Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: true }));
