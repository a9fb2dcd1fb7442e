#!/bin/sh
# Makes signed PaymentRequests without our code: protoc encodes, openssl signs. The chain is
# the leaf and the intermediate certificate. Needs protobuf-compiler, openssl and xxd.
#   sh test/vectors/payments/make-signed.sh
set -eu
cd "$(dirname "$0")"
proto="protoc -I ../../../proto payments.proto"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# quote FILE: its bytes as the text of a protobuf string.
quote() { xxd -p "$1" | tr -d '\n' | sed 's/../\\x&/g'; }

# make KEY TYPE DIGEST OUT
make() {
  for name in "$1" intermediate; do openssl x509 -in "certificates/$name.pem" -outform DER -out "$work/$name.der"; done
  printf 'certificate: "%s"\ncertificate: "%s"\n' "$(quote "$work/$1.der")" "$(quote "$work/intermediate.der")" \
    | $proto --encode=payments.X509Certificates > "$work/pki"
  printf 'network: "test" outputs { amount: 100000 script: "Q" } time: 1800000000 memo: "Two mugs"' \
    | $proto --encode=payments.PaymentDetails > "$work/details"
  request="payment_details_version: 1 pki_type: \"$2\" pki_data: \"$(quote "$work/pki")\" serialized_payment_details: \"$(quote "$work/details")\""
  printf '%s signature: ""' "$request" | $proto --encode=payments.PaymentRequest > "$work/unsigned"
  openssl dgst "-$3" -sign "certificates/$1.key" -out "$work/signature" "$work/unsigned"
  printf '%s signature: "%s"' "$request" "$(quote "$work/signature")" | $proto --encode=payments.PaymentRequest | xxd -p > "$4"
}

make rsa2048 x509+sha256 sha256 openssl-signed.rsa.hex
make p256 x509+sha256 sha256 openssl-signed.ecdsa.hex
make rsa2048 x509+sha1 sha1 openssl-signed.sha1.hex
