// HAProxy and nginx of Debian, each with a configuration of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { newFolder } from '../../support/process/folders';
import { until } from '../../support/expectations/until';

export interface StartedProxy {
  stop(): Promise<void>;
}

/** `port`: one on which it will listen. */
export async function startHaproxy(configuration: string, port: number): Promise<StartedProxy> {
  const file = join(await newFolder(), 'haproxy.cfg');
  const defaults = 'defaults\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n';
  await writeFile(file, `${defaults}${configuration}`);
  return started('haproxy', ['-db', '-f', file], port);
}

/** `http`: what stands in the block of that name. */
export async function startNginx(http: string, port: number): Promise<StartedProxy> {
  const folder = await newFolder();
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ');
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  await writeFile(
    file,
    `${user}daemon off;\nworker_processes 1;\npid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\n` +
      `events { worker_connections 512; }\nhttp {\n  access_log off;\n  ${temporary}\n${http.replaceAll('FOLDER', folder)}\n}\n`
  );
  return started('nginx', ['-c', file, '-p', folder], port);
}

async function started(program: string, args: readonly string[], port: number): Promise<StartedProxy> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  let isOver = false;
  child.once('exit', () => (isOver = true));
  await until(async () => {
    if (isOver) throw new Error(`${program} ended: ${said}`);
    return listensOn(port);
  });
  return {
    stop: async () => {
      if (isOver) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  };
}

async function listensOn(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const found = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
  socket.destroy();
  return found;
}
