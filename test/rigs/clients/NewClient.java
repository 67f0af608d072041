import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** java.net.http.HttpClient, with HTTP/1.1. */
class NewClient {
  public static void main(String[] steps) throws Exception {
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (String step : steps) {
      String[] words = step.split(" ");
      if (words[0].equals("WAIT")) {
        Thread.sleep(Long.parseLong(words[1]) * 1000);
        continue;
      }
      boolean hasBody = words[0].equals("POST") || words[0].equals("PATCH");
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(words[1]))
        .method(words[0], hasBody ? BodyPublishers.ofString(System.getenv("BODY")) : BodyPublishers.noBody())
        .header("Authorization", "Bearer " + System.getenv("TOKEN"))
        .header("Content-Type", "application/json");
      if (!words[2].equals("-")) request.header("Idempotency-Key", words[2]);
      if (!words[3].equals("-")) request.expectContinue(true);
      try {
        var response = client.send(request.build(), BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body().length());
      } catch (Exception error) {
        System.out.println("error " + error.getClass().getSimpleName() + ": " + error.getMessage());
      }
    }
  }
}
