// The text of `npm start -- --help`: all options of the plugin, and those of bcoin that most nodes need.

const OURS = `  --rest-warmup WHEN        when to answer: synced (default), once node and index are in sync; indexed, once
                            the index is at the node's tip
  --rest-core EDITION       of Bitcoin Core's interface: 0.17 (default), or modern, which adds JSON-RPC
  --rest-deprecated NAMES   fields that modern leaves out: some of bip125,fullrbf,warnings
  --rest-filters            build compact block filters (BIP158)
  --rest-rpc-user USER:PASSWORD
                            accepted for JSON-RPC besides the API key
  --rest-auth               require the node's API key
  --rest-serial-version N   0: bin and hex without witnesses; 1
  --rest-threads N          requests worked on at a time; 4, modern 16
  --rest-work-queue N       requests that may wait; 16, modern 64
  --rest-timeout SECONDS    cut off clients after this time without a byte from them; 30
  --rest-read-rate BYTES    a second at which clients have to read replies; 5000
  --rest-max-body BYTES     of a request; 1048576
  --rest-max-outpoints N    in a getutxos request; 15
  --rest-max-headers N      in a request; 2000
  --rest-undo BLOCKS        that the index can undo without the node; 4320
  --rest-cache MIB          memory for caches; 256
  --rest-bootstrap FROM     what an empty index is built from: blocks (default) or coins
  --rest-scrub HOURS        in which all files of the index are checked once; 24, 0: never
  --rest-addresses          keep an index by script as well, and answer Esplora's API under /api
  --rest-addresses-path PATH
                            another path for Esplora's API
  --rest-cors ORIGINS       whose web pages may use it: origins with commas between them, or *
  --rest-no-broadcast       accept no transactions for broadcast
  --rest-max-unspent N      coins in one of its replies; 500
  --rest-electrum HOST:PORT answer the Electrum protocol there; a port alone: on 127.0.0.1
  --rest-electrum-tls HOST:PORT
                            answer the Electrum protocol over TLS there
  --rest-electrum-cert FILE, --rest-electrum-key FILE
                            certificate and key in PEM; by default the node makes them
  --rest-electrum-sessions N
                            clients at a time; 1000
  --rest-electrum-subscriptions N
                            addresses to which one client may subscribe; 75000
  --rest-electrum-cost N    points, 0.1 ms of processor time each, above which an address is cut off; 100000, 0: never
  --rest-max-history N      transactions of an address in one Electrum reply; 80000
  --rest-payments DIR       accept payments (BIP70), with records in DIR; needs --api-key
  --rest-payments-url URL   where customers reach the node`;

const BCOINS = `  --network NAME            main, testnet, regtest or simnet
  --prefix DIR              the node's folder; ~/.bcoin
  --config FILE             by default bcoin.conf in the node's folder
  --api-key KEY             of RPC and wallet; by default made at the first start and kept in the node's folder
  --http-host HOST, --http-port PORT
                            of the HTTP server with /rest and RPC; 127.0.0.1, and 8332 on main
  --listen BOOL, --host HOST, --port PORT
                            for other nodes
  --nodes LIST, --only LIST other nodes to connect to: in addition, or exclusively
  --max-outbound N, --max-inbound N
  --prune                   keep only the latest blocks
  --index-tx, --index-address
  --cache-size MIB, --mempool-size MIB
  --persistent-mempool
  --log-level LEVEL         none, error, warning, info, debug, spam
  --log-console BOOL, --log-file BOOL
  --memory                  keep nothing on disk
  --no-wallet
  --wallet-prefix DIR       the wallet's folder; by default the node's
  --wallet-http-port PORT   8334 on main`;

export const USAGE = `Usage: npm start -- [OPTION]...

Starts a bcoin node that answers Bitcoin Core's REST interface. With none of --network, --prefix and
--config it is a node on regtest with a small demonstration chain, in .demo, and --rest-addresses is on.

  --reset                   make a new demonstration chain

REST:
${OURS}

bcoin's, among others:
${BCOINS}

  --help, --version

All options can also be set in bcoin.conf (rest-threads: 8) and in the environment (BCOIN_REST_THREADS=8).
BCOIN_PATH names another bcoin than the one installed here. All of bcoin's options are in etc/sample.conf in its folder.
`;
