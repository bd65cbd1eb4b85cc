/* SPDX-License-Identifier: Apache-2.0 */
/* The Engine.IO server from outside: requests, both transports, and the way from one to the other.
 */
#include "tests/contract/engine/rig.h"

int main(void)
{
    int failed = 0;

    failed += _cmocka_run_group_tests("requests", request_cases, request_case_count, NULL, NULL);
    failed += _cmocka_run_group_tests("polling", polling_cases, polling_case_count, NULL, NULL);
    failed +=
        _cmocka_run_group_tests("websocket", websocket_cases, websocket_case_count, NULL, NULL);
    failed += _cmocka_run_group_tests("upgrade", upgrade_cases, upgrade_case_count, NULL, NULL);
    return failed;
}
