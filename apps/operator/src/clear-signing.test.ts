import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { orderTypes, paymentSessionCreationTypes, preparePaymentTypes } from '@florin/protocol/typed-data.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { TypedDataEncoder } from 'ethers';
import { type Abi, type AbiParameter, checksumAddress, isAddress } from 'viem';
import { descriptorShape, typesOfFormat, valuesOfType } from './clear-signing.fixture.ts';

const folder = new URL('../../../contracts/erc7730/', import.meta.url);

interface Field {
  readonly path: string;
  readonly label: string;
  readonly format?: string;
  readonly params?: { readonly tokenPath?: string; readonly $ref?: string };
}
interface Descriptor {
  readonly metadata: { readonly enums?: Readonly<Record<string, Readonly<Record<string, string>>>> };
  readonly display: {
    readonly formats: Readonly<
      Record<string, { readonly interpolatedIntent?: string; readonly fields: readonly Field[] }>
    >;
  };
}
/** A signature or type with the paths of all its displayable fields, and their types. */
type Paths = readonly (readonly [signature: string, paths: ReadonlyMap<string, string>])[];

function read<Value>(file: string): Value {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Value;
}

function printParameter({ type, name, ...rest }: AbiParameter): string {
  const components = 'components' in rest ? rest.components : undefined;
  if (components === undefined) return `${type} ${name}`;
  return `(${components.map(printParameter).join(',')})${type.slice('tuple'.length)} ${name}`;
}

function pathsOf({ type, name, ...rest }: AbiParameter, before = ''): (readonly [string, string])[] {
  const path = `${before}${name}${type.endsWith('[]') ? '.[]' : ''}`;
  const components = 'components' in rest ? rest.components : undefined;
  return components === undefined
    ? [[path, type]]
    : components.flatMap((component) => pathsOf(component, `${path}.`));
}

function callsOf(abi: Abi): Paths {
  return abi.flatMap((entry) => {
    if (entry.type !== 'function' || !/payable/.test(entry.stateMutability)) return [];
    const signature = `${entry.name}(${entry.inputs.map(printParameter).join(',')})`;
    return [[signature, new Map(entry.inputs.flatMap((input) => pathsOf(input)))] as const];
  });
}

type Types = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;

function messageOf(primary: string, types: Types): Paths[number] {
  const signature = TypedDataEncoder.from(
    Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]])),
  ).encodeType(primary);
  const walk = (name: string, before: string): (readonly [string, string])[] =>
    (types[name] ?? []).flatMap((field) =>
      types[field.type] === undefined
        ? [[before + field.name, field.type] as const]
        : walk(field.type, `${before}${field.name}.`),
    );
  return [signature, new Map(walk(primary, ''))];
}

function fields(list: string): { name: string; type: string }[] {
  return list.split(',').map((field) => {
    const [name = '', type = ''] = field.split(':');
    return { name, type };
  });
}

const expected: Readonly<Record<string, Paths>> = {
  'calldata-PaymentGateway.json': callsOf(paymentGatewayAbi as Abi),
  'calldata-PayoutVault.json': callsOf(payoutVaultAbi as Abi),
  'eip712-Permit2.json': [
    messageOf('PermitWitnessTransferFrom', {
      PermitWitnessTransferFrom: fields(
        'permitted:TokenPermissions,spender:address,nonce:uint256,deadline:uint256,witness:Order',
      ),
      TokenPermissions: fields('token:address,amount:uint256'),
      ...orderTypes,
    }),
  ],
  'eip712-ReceiveWithAuthorization.json': [
    messageOf('ReceiveWithAuthorization', {
      ReceiveWithAuthorization: fields(
        'from:address,to:address,value:uint256,validAfter:uint256,validBefore:uint256,nonce:bytes32',
      ),
    }),
  ],
  'eip712-AgentProtocol.json': [
    messageOf('PaymentSessionCreationAuthorization', paymentSessionCreationTypes),
    messageOf('PreparePaymentAuthorization', preparePaymentTypes),
  ],
};

test('every descriptor is listed, and none is missing', () => {
  const files = readdirSync(folder).filter((file) => /^(calldata|eip712)-/.test(file));
  assert.deepEqual(files.toSorted(), Object.keys(expected).toSorted());
});

for (const [file, paths] of Object.entries(expected)) {
  test(`${file} has the shape of a descriptor of ERC-7730, and nothing else`, () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addFormat('eip55', (text) => isAddress(text) && checksumAddress(text) === text);
    const isValid = ajv.compile(descriptorShape);
    assert.ok(isValid(read(file)), JSON.stringify(isValid.errors));
  });

  test(`${file} shows every field of every signature, and no other`, () => {
    const { display, metadata } = read<Descriptor>(file);
    assert.deepEqual(
      Object.keys(display.formats).toSorted(),
      paths.map(([signature]) => signature).toSorted(),
    );
    for (const [signature, known] of paths) {
      const format = display.formats[signature];
      assert.ok(format !== undefined);
      assert.deepEqual(
        format.fields.map(({ path }) => path).toSorted(),
        [...known.keys()].toSorted(),
        signature,
      );
      const named = [...(format.interpolatedIntent ?? '').matchAll(/\{([^}]+)\}/g)].map(([, path]) => path);
      const tokens = format.fields.flatMap(({ params }) => params?.tokenPath ?? []);
      for (const path of [...named, ...tokens]) assert.ok(path === '@.to' || known.has(path ?? ''), path);
      for (const token of tokens)
        if (token !== '@.to') assert.match(known.get(token) ?? '', /^address$/, `${signature}: ${token}`);
      for (const field of format.fields) checkField(field, known.get(field.path) ?? '', metadata.enums);
    }
  });
}

/** A format shows only the types that it is made for, and an enumeration names every value of its type. */
function checkField(
  { path, format, params }: Field,
  type: string,
  enums: Descriptor['metadata']['enums'],
): void {
  if (format === undefined) return;
  const fitting = typesOfFormat[format];
  assert.ok(fitting !== undefined, format);
  assert.match(type, fitting, `${path} is shown as ${format}`);
  if (params?.$ref === undefined) return;
  const name = params.$ref.replace('$.metadata.enums.', '');
  assert.deepEqual(Object.keys(enums?.[name] ?? {}).toSorted(), valuesOfType[type], `${path}: ${name}`);
}
