/* SPDX-License-Identifier: Apache-2.0 */
/* main: the table of subcommands. It dispatches, and it is all there is to print as usage. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "dialects/dialect.h"
#include "gateway/cli/cli.h"
#include "gateway/core/nearest.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
    const char *usage; /* what follows the name */
};

#define ADMIN_OPTIONS                                                                              \
    "  --config FILE         says where the gateway listens, and its token (as serve)\n"           \
    "  --url URL             http://host:port or unix:/path, instead\n"                            \
    "  --token-file FILE, --token-env NAME\n"                                                      \
    "                        where the admin token is\n"

static const struct command commands[] = {
    {"serve", cli_serve, "receive wakes and relay them",
     "[--config FILE]\n"
     "  Without it: the file that WAKEGATE_CONFIG names, or wakegate.json.\n"
     "  SIGHUP reads it again, SIGTERM ends in order, SIGUSR1 logs the relays in flight."},
    {"check", cli_check, "report every mistake of a config",
     "[--config FILE] [--live] [--json]\n"
     "  --live                where it has no mistake, go and look: files, store, clock, names "
     "and\n"
     "                        certificates of targets, addresses to listen on; no wake is sent\n"
     "  --agentchat-url URL   whose clock to compare with (the config's agentchat.url)\n"
     "  --json                for machines\n"
     "  Exit status: 0 it is fine (there may be warnings), 1 it has mistakes or there are "
     "problems."},
    {"send", cli_send, "sign and post a wake, as AgentChat does",
     "--dialect NAME --secret-file FILE --url URL [OPTIONS]\n"
     "  --reason WORD         messages, reminder, invite, unanswered or test (messages)\n"
     "  --handle @NAME        whom the wake is for (@example-relay)\n"
     "  --summary TEXT        its one line\n"
     "  --delivery-id ID      the same for all; without it each wake has a fresh one\n"
     "  --repeat              one fresh id for all\n"
     "  --payload FILE        send this payload, byte for byte\n"
     "  --variant NAME        which of the runtime's triggers\n"
     "  --scheme NAME         which of the dialect's proofs\n"
     "  --count N             so many wakes (1)\n"
     "  --concurrency N       so many at once (1)\n"
     "  --timeout SECONDS     for each answer (20)\n"
     "  --ca-file FILE        certificates to trust, instead of the system's\n"
     "  Prints a line of JSON for each answer. Exit status: 0 every answer was 2xx, 1 not so."},
    {"verify", cli_verify, "say which rule a captured request fails",
     "--dialect NAME --secret-file FILE [--secret-file FILE ...]\n"
     "                       [--tolerance SECONDS] [--now UNIX-SECONDS] [REQUEST]\n"
     "  REQUEST is a file with a captured HTTP request; without it, or as -, standard input.\n"
     "  Exit status: 0 it is genuine and a wake, 1 it is not."},
    {"sink", cli_sink, "stand in for a runtime: show the wakes that arrive",
     "--listen ADDRESS --dialect NAME --secret-file FILE [OPTIONS]\n"
     "  ADDRESS is as 127.0.0.1:9000, [::]:9000 or unix:/path; port 0 takes a free one.\n"
     "  --status N            answer every genuine wake so, instead of as the runtime does\n"
     "  --delay MS            wait before each answer"},
    {"deliveries", cli_deliveries, "show what became of each delivery",
     "[OPTIONS]\n"
     "  --since WHEN          2h, 3d, or a time as 2026-11-12T09:00:00Z (24h)\n"
     "  --route NAME, --target ID, --outcome WORD, --id DELIVERY-ID\n"
     "                        those only\n"
     "  --follow              go on with those that come\n"
     "  --json                a line of JSON for each\n" ADMIN_OPTIONS
     "  Exit status: 0 there is nothing more, 1 the gateway did not answer or said no."},
    {"redeliver", cli_redeliver, "deliver a wake once more",
     "DELIVERY-ID [OPTIONS]\n"
     "  The id's newest entry in the journal says what the wake was and where it went.\n"
     "  --route NAME, --target ID\n"
     "                        which of several places it went to\n"
     "  --force               also while it is being relayed, held, or the target rests\n"
     "  --json                the gateway's answer as it is\n" ADMIN_OPTIONS
     "  Exit status: 0 the target accepted it, 1 it did not, or the gateway said no."},
    {"subscription", cli_subscription, "register a route at AgentChat, compare, test, remove",
     "set|show|test|remove ROUTE [--config FILE] [OPTIONS]\n"
     "  set                   register URL, first secret, dialect, prompt and rewake of the route\n"
     "  set --rotate          replace the secret; run it again to go on where it was broken off\n"
     "  show                  what AgentChat has, and what differs from the config\n"
     "  test                  have a test wake sent, and tell what became of it\n"
     "  remove                have no more wakes sent\n"
     "  --key-file FILE       the agent's API key; without it the variable AGENTCHAT_API_KEY\n"
     "  --url URL             register this instead of the config's public_url and /wake/ROUTE\n"
     "  --gateway URL         a replica of the gateway, such as http://127.0.0.1:8080; up to 32\n"
     "  --wait SECONDS        for replicas and for AgentChat's limits (120)\n"
     "  --linger SECONDS      how long the old secret stays when AgentChat has the new one (30)\n"
     "  --api URL             AgentChat's API (the config's agentchat.url)\n"
     "  --private             the API may be at a private address, and plain http at a loopback\n"
     "                        one; a gateway that is named may be plain http\n"
     "  --ca-file FILE        certificates to trust, instead of the system's\n"
     "  Exit status: 0 it is so, 1 it is not, or differs."},
    {"secret", cli_secret, "print a fresh secret",
     "[--dialect NAME]\n"
     "  64 hex digits; whsec_ and base64 for standard-webhooks."},
    {"healthcheck", cli_healthcheck, "ask a running gateway whether it is ready",
     "[URL]\n"
     "  Without it: http://127.0.0.1:8080/readyz; unix:/path works too. Exit status: 0 it is "
     "ready, 1 it is not."},
    {"version", cli_version, "print the versions of wakegate and its libraries", ""},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_usage(FILE *to, const struct command *command)
{
    fprintf(to, "usage: wakegate %s %s\n", command->name, command->usage);
    if (!strstr(command->usage, "--dialect"))
        return;
    fprintf(to, "  Dialects:");
    for (size_t i = 0; dialects[i]; i++)
        fprintf(to, "%s %s", i > 0 ? "," : "", dialects[i]->name);
    fprintf(to, "\n");
}

static void print_overview(FILE *to)
{
    fprintf(to, "wakegate receives AgentChat wakes and relays them to sleeping runtimes.\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  wakegate %-12s %s\n", commands[i].name, commands[i].about);
    fprintf(to, "\n'wakegate COMMAND --help' shows what a command takes.\n");
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    if (argc > 1 && is_help(argv[1])) {
        print_usage(stdout, command);
        return CLI_OK;
    }
    int status = command->run(argc, argv);
    if (status == CLI_USAGE)
        print_usage(stderr, command);
    return status;
}

static const struct command *find_command(const char *name)
{
    if (strcmp(name, "--version") == 0)
        name = "version";
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int complain(const char *word)
{
    const char *names[COMMANDS];

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *meant = nearest(slice_from(word), names, COMMANDS);
    fprintf(stderr, "wakegate: there is no command \"%s\"", word);
    if (meant)
        fprintf(stderr, "; did you mean \"%s\"?", meant);
    fprintf(stderr, "\n\n");
    print_overview(stderr);
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    bool help = is_help(argv[1]);
    if (help && argc == 2) {
        print_overview(stdout);
        return CLI_OK;
    }
    const char *name = help ? argv[2] : argv[1];
    const struct command *command = find_command(name);
    if (!command)
        return complain(name);
    if (!help)
        return run(command, argc - 1, argv + 1);
    print_usage(stdout, command);
    return CLI_OK;
}
