#include "service/events.h"
#include "service/past.h"

#define EVENT_NANOSECONDS 250000000u

void events_tell(struct service *service)
{
    static const char retry[] = "retry: 1000\n";
    uint64_t now = clock_nanoseconds();
    struct current *current = current_take(&service->models[0]);
    struct text made = {0};
    bool soon = service->event_made && now - service->event_made < EVENT_NANOSECONDS;
    if (!current || soon) {
        current_leave(current);
        return;
    }
    past_take(service->past, service, current);
    text_put(&made, service->event_made ? "" : retry);
    text_printf(&made, "id: %llu\nevent: stage\ndata: ", (unsigned long long)current->report.stage);
    tell_report_of(&made, service, current, false);
    text_put(&made, "\n\n");
    current_leave(current);
    service->event_made = now;
    if (made.failed) {
        text_free(&made);
        return;
    }
    pthread_mutex_lock(&service->events_lock);
    text_free(&service->event);
    service->event = made;
    service->event_number++;
    pthread_mutex_unlock(&service->events_lock);
    transport_wake_listeners();
}

bool events_copy(struct service *service, uint64_t seen, struct text *event, uint64_t *number)
{
    pthread_mutex_lock(&service->events_lock);
    bool news = service->event_number != seen;
    if (news) {
        text_add(event, service->event.at, service->event.count);
        *number = service->event_number;
    }
    pthread_mutex_unlock(&service->events_lock);
    return news && !event->failed;
}
